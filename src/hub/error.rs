//! Why nothing was fetched.

use std::path::PathBuf;
use std::time::Duration;

use super::transport::Unreachable;

/// The error for a model that could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Nothing may be asked.
    #[error("the Hub is not asked in offline mode")]
    Offline,
    /// The endpoint is no address.
    #[error("the Hub's endpoint {endpoint:?} is no address of http or https")]
    Endpoint {
        /// The text that was given.
        endpoint: String,
    },
    /// The model is there for those alone who have been granted access.
    #[error("the model {repo} is gated: {}", match has_token {
        true => "the account of the token has no access to it",
        false => "it is given to those alone who log in and have access",
    })]
    Gated {
        /// The model.
        repo: String,
        /// True if a token was shown.
        has_token: bool,
    },
    /// There is no such model, or it is a private one of somebody else; the Hub does not tell which.
    #[error("the Hub at {endpoint} has no model {repo}, or not for {}", match has_token {
        true => "the account of the token",
        false => "those who are not logged in",
    })]
    NoModel {
        /// The model.
        repo: String,
        /// The Hub.
        endpoint: String,
        /// True if a token was shown.
        has_token: bool,
    },
    /// The model has no such branch, tag or commit.
    #[error("the model {repo} has no revision {revision}")]
    NoRevision {
        /// The model.
        repo: String,
        /// The revision.
        revision: String,
    },
    /// The model has neither a configuration nor a chat template of its own, and GGUF files, each of which has its chat template in it.
    #[error("the model {repo} has its chat template in its GGUF files alone")]
    GgufAlone {
        /// The model.
        repo: String,
        /// The names of these files, in the Hub's order.
        files: Vec<String>,
    },
    /// The token is not one of the Hub's.
    #[error("the Hub at {endpoint} does not take the token")]
    Token {
        /// The Hub.
        endpoint: String,
    },
    /// The Hub refuses.
    #[error("the Hub refuses to give {url}, with status {status}: {message}")]
    Refused {
        /// The address.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// Too much was asked in too short a time, and waiting as long as is allowed did not help.
    #[error("the Hub has been asked too much in too short a time{}", match after {
        Some(after) => format!("; it wants to be left alone for {} s", after.as_secs()),
        None => String::new(),
    })]
    RateLimited {
        /// For how long the Hub wants to be left alone.
        after: Option<Duration>,
    },
    /// The server has failed, each time that it was asked.
    #[error("the Hub has failed: status {status} for {url}, {tries} times")]
    Server {
        /// The address.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// How often it was asked.
        tries: u32,
    },
    /// No answer came.
    #[error("no answer from {url}: {cause}")]
    Unreachable {
        /// The address.
        url: String,
        /// The cause.
        cause: Unreachable,
    },
    /// The answer is none that the Hub gives.
    #[error("{url} does not answer as the Hub does: {reason}")]
    Strange {
        /// The address.
        url: String,
        /// The difference.
        reason: String,
    },
    /// An answer is larger than any that is needed.
    #[error("{url} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The address.
        url: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The cache cannot be written.
    #[error("the cache of the Hub cannot be written, in {}: {reason}", folder.display())]
    Unwritable {
        /// The model's folder in the cache.
        folder: PathBuf,
        /// The cause.
        reason: String,
    },
}

impl FetchError {
    /// Returns true if the same request may go well at another time, with nothing changed on this side and nothing in the model.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Server { .. }
            | Self::Unreachable { .. }
            | Self::Strange { .. }
            | Self::Unwritable { .. }
            | Self::Offline
            // Access is granted by people, without another token.
            | Self::Gated { .. }
            | Self::Token { .. }
            | Self::Endpoint { .. } => true,
            Self::NoModel { .. }
            | Self::NoRevision { .. }
            | Self::GgufAlone { .. }
            | Self::Refused { .. }
            | Self::TooLarge { .. } => false,
        }
    }
}
