//! One question to the Hub: redirects are followed, what may pass is tried again, and how much is read is bounded.
//!
//! The token is shown to the endpoint alone, and to nobody to whom it redirects; of the headers those count that come from the endpoint, as
//! for the Hub's client. A pause that the server asks for is kept where it is not longer than what is allowed; after a failure the pauses grow.

use std::io::{self, Read as _};
use std::time::Duration;

use super::address;
use super::error::FetchError;
use super::settings::HubSettings;
use super::transport::{HubAnswer, HubRequest, Pause, Transport, Unreachable, UnreachableKind};

/// How many redirects are followed.
const REDIRECTS: usize = 8;

/// The pause after the first failure.
const PAUSE: Duration = Duration::from_secs(1);

/// How much of the words of a refusal is kept, in characters.
const WORDS: usize = 200;

/// An answer, read.
#[derive(Debug, Default)]
pub(super) struct Got {
    pub(super) body: Vec<u8>,
    /// The tag of the content, as the client names a blob after it.
    pub(super) etag: Option<String>,
    /// The commit that the content is of.
    pub(super) commit: Option<String>,
}

/// The model that is asked for, for what is told of a refusal.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) repo: &'a str,
    pub(super) revision: &'a str,
}

/// Asks for what is at a path of the endpoint, of at most `limit` bytes.
pub(super) fn ask(
    transport: &dyn Transport,
    settings: &HubSettings,
    path: &str,
    limit: u64,
    about: About<'_>,
) -> Result<Got, FetchError> {
    let url = format!("{}{path}", settings.endpoint);
    if address::origin(&settings.endpoint).is_none() {
        return Err(FetchError::Endpoint {
            endpoint: settings.endpoint.clone(),
        });
    }
    let mut tries = 0;
    loop {
        tries += 1;
        let failed = match once(transport, settings, &url, limit) {
            Ok(Outcome::Got(got)) => return Ok(got),
            Ok(Outcome::Refused(refusal)) if refusal.is_final() => {
                return Err(refusal.error(settings, url, about));
            }
            Ok(Outcome::Refused(refusal)) => Failed::Refused(refusal),
            Err(FetchError::Unreachable { url, cause })
                if matches!(
                    cause.kind,
                    UnreachableKind::Broken | UnreachableKind::Silent
                ) =>
            {
                Failed::Unreachable(FetchError::Unreachable { url, cause })
            }
            Err(error) => return Err(error),
        };
        let asked = failed.asked_pause();
        let pause = asked.unwrap_or(PAUSE * (1 << (tries - 1).min(5)));
        if tries >= settings.tries || pause > settings.longest_pause {
            return Err(failed.error(url, tries));
        }
        transport.pause(&Pause::new(pause, asked.is_some()));
    }
}

/// A failure that may pass.
enum Failed {
    Refused(Refusal),
    Unreachable(FetchError),
}

impl Failed {
    /// The pause that the server asks for.
    fn asked_pause(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) => refusal.after,
            Self::Unreachable(_) => None,
        }
    }

    fn error(self, url: String, tries: u32) -> FetchError {
        match self {
            Self::Unreachable(error) => error,
            Self::Refused(refusal) if refusal.status == 429 => FetchError::RateLimited {
                after: refusal.after,
            },
            Self::Refused(refusal) => FetchError::Server {
                url,
                status: refusal.status,
                tries,
            },
        }
    }
}

enum Outcome {
    Got(Got),
    Refused(Refusal),
}

/// An answer with a status that is none of success.
struct Refusal {
    status: u16,
    /// The Hub's own word for it.
    code: String,
    message: String,
    after: Option<Duration>,
}

impl Refusal {
    fn of(answer: &HubAnswer) -> Self {
        let text = |name| answer.header(name).unwrap_or_default();
        let message: String = text("X-Error-Message").chars().take(WORDS).collect();
        Self {
            status: answer.status,
            code: text("X-Error-Code").to_owned(),
            message,
            after: after(answer),
        }
    }

    /// Returns true if asking again is of no use.
    fn is_final(&self) -> bool {
        !matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
    }

    fn error(self, settings: &HubSettings, url: String, about: About<'_>) -> FetchError {
        let repo = about.repo.to_owned();
        let has_token = settings.token.is_some();
        let endpoint = settings.endpoint.clone();
        match (self.status, self.code.as_str()) {
            (_, "GatedRepo") => FetchError::Gated { repo, has_token },
            (_, "RevisionNotFound") => FetchError::NoRevision {
                repo,
                revision: about.revision.to_owned(),
            },
            (401, _) if self.message.starts_with("Invalid credentials") => {
                FetchError::Token { endpoint }
            }
            // Who is not logged in is told the same of what is not there and of what is private. Mirrors have no word of their own for it.
            (_, "RepoNotFound") | (401, _) | (404, "") => FetchError::NoModel {
                repo,
                endpoint,
                has_token,
            },
            (status, code) => FetchError::Refused {
                url,
                status,
                message: match (self.message.as_str(), code) {
                    ("", "") => "it does not say why".to_owned(),
                    ("", code) => code.chars().take(WORDS).collect(),
                    (message, _) => message.to_owned(),
                },
            },
        }
    }
}

/// For how long the server wants to be left alone: in seconds in `Retry-After`, or where it has none left, in `RateLimit` (`"api";r=0;t=55`).
fn after(answer: &HubAnswer) -> Option<Duration> {
    let seconds = |text: &str| text.trim().parse().ok().map(Duration::from_secs);
    let retry = answer.header("Retry-After").and_then(seconds);
    retry.or_else(|| {
        let limit = answer.header("RateLimit")?;
        let value = |key: &str| {
            let mut parts = limit
                .split(';')
                .filter_map(|part| part.trim().split_once('='));
            parts.find(|(name, _)| *name == key).map(|(_, value)| value)
        };
        (value("r") == Some("0"))
            .then(|| seconds(value("t")?))
            .flatten()
    })
}

/// Asks once, and follows redirects.
fn once(
    transport: &dyn Transport,
    settings: &HubSettings,
    url: &str,
    limit: u64,
) -> Result<Outcome, FetchError> {
    let endpoint = address::origin(&settings.endpoint);
    let mut url = url.to_owned();
    let (mut linked, mut etag, mut commit) = (None, None, None);
    for _ in 0..=REDIRECTS {
        let is_endpoint = address::origin(&url) == endpoint;
        let token = settings.token.as_deref().filter(|_| is_endpoint);
        let answer = transport.get(&HubRequest::new(&url, token));
        let answer = answer.map_err(|cause| FetchError::Unreachable {
            url: url.clone(),
            cause,
        })?;
        if is_endpoint {
            let header = |name| answer.header(name).map(str::to_owned);
            linked = linked.or_else(|| header("X-Linked-Etag"));
            etag = header("ETag").or(etag);
            commit = commit.or_else(|| header("X-Repo-Commit"));
        }
        match answer.status {
            200 => {
                let body = read(answer, &url, limit)?;
                let etag = linked.or(etag).map(|etag| normalized(&etag));
                return Ok(Outcome::Got(Got { body, etag, commit }));
            }
            301 | 302 | 303 | 307 | 308 => {
                let target = answer.header("Location");
                let target = target.and_then(|location| address::redirected(&url, location));
                url = target.ok_or_else(|| FetchError::Strange {
                    url: url.clone(),
                    reason: "it redirects to what is no address, or to one without encryption"
                        .to_owned(),
                })?;
            }
            _ => return Ok(Outcome::Refused(Refusal::of(&answer))),
        }
    }
    Err(FetchError::Strange {
        url,
        reason: format!("it redirects more than {REDIRECTS} times"),
    })
}

/// The body, unless it is longer than the limit. That one is announced to be is enough.
fn read(answer: HubAnswer, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
    let too_large = || FetchError::TooLarge {
        url: url.to_owned(),
        limit,
    };
    let announced = answer.header("Content-Length");
    if announced.and_then(|text| text.parse::<u64>().ok()) > Some(limit) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    let read = answer.body.take(limit + 1).read_to_end(&mut body);
    read.map_err(|error| {
        let kind = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => UnreachableKind::Silent,
            _ => UnreachableKind::Broken,
        };
        FetchError::Unreachable {
            url: url.to_owned(),
            cause: Unreachable::new(kind, format!("the connection broke off: {error}")),
        }
    })?;
    if body.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(body)
}

/// The tag as the client names a blob after it: without the quotes and what marks it as a weak one.
fn normalized(etag: &str) -> String {
    let etag = etag.trim_start_matches(['W', '/']);
    etag.trim_matches('"').to_owned()
}
