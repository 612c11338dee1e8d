//! The problems of a Hub that gives nothing, and what people can do.

use std::borrow::Cow;
use std::path::Path;

use obverse::hub::{FetchError, ModelId, UnreachableKind};

use crate::cli::problem::{self, Problem};
use crate::cli::{escape, input};

const LOG_IN: &str = "`hf auth login`, or a token in HF_TOKEN";

/// The problem that a model could not be fetched; `source` is what somebody gave who may have meant a path.
pub(crate) fn problem(
    error: &FetchError,
    id: &ModelId,
    endpoint: &str,
    source: Option<&Path>,
) -> Problem {
    let told = escape::line(&error.to_string()).into_owned();
    let page = format!("{endpoint}/{}", id.repo());
    match error {
        FetchError::Gated { has_token, .. } => {
            let hint = match has_token {
                true => format!("ask for access with that account at {page}"),
                false => format!("ask for access at {page}, and log in: {LOG_IN}"),
            };
            Problem::failed("gated", told).with_hint(hint)
        }
        FetchError::NoModel { has_token, .. } => {
            let message = match source {
                Some(source) => format!("there is no file or folder {}, and {told}", input::name(source)),
                None => told,
            };
            let hint = match has_token {
                true => "look whether the name is right, and whether the account of the token may see the model".to_owned(),
                false => format!("look whether the name is right; for a private model log in: {LOG_IN}"),
            };
            Problem::failed("no-model", message).with_hint(hint)
        }
        FetchError::NoRevision { .. } => Problem::failed("no-revision", told).with_hint(format!(
            "leave out the @ and what stands behind it for `main`; the branches and tags are listed at {page}/tree/main"
        )),
        FetchError::GgufAlone { repo, files } => {
            let hint = format!(
                "`hf download {repo} FILE` fetches one of them and prints its path, which is a source; or name the model that they were made of"
            );
            let named = files.iter().take(problem::MANY).map(|file| escape::line(file));
            let named: Vec<String> = named.map(Cow::into_owned).collect();
            let more = match files.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Problem::failed("no-chat-template", told)
                .with_note(format!("there is: {}{more}", named.join(", ")))
                .with_hint(hint)
        }
        FetchError::Token { .. } => Problem::failed("hub-token", told).with_hint(format!(
            "take another one: {LOG_IN}; HF_HUB_DISABLE_IMPLICIT_TOKEN=1 asks without one"
        )),
        FetchError::RateLimited { .. } => Problem::failed("rate-limited", told).with_hint(
            "wait, and run the command again: what was fetched is kept; who is logged in (`hf auth login`) may ask more often",
        ),
        FetchError::Server { .. } => Problem::failed("hub-failed", told)
            .with_hint("the Hub itself has trouble: run the command again later; what was fetched is kept"),
        FetchError::Unreachable { cause, .. } => {
            let hint = match cause.kind {
                UnreachableKind::Distrusted => {
                    "somebody between here and the Hub answers in its place, such as a proxy that reads along"
                }
                _ => "look at the network, at HTTPS_PROXY and NO_PROXY, and at HF_ENDPOINT; with HF_HUB_OFFLINE=1 the Hub is not asked, and what is in the cache is used",
            };
            Problem::failed("hub-unreachable", told).with_hint(hint)
        }
        FetchError::Unwritable { .. } => Problem::failed("unwritable", told)
            .with_hint("HF_HUB_CACHE or HF_HOME names another folder for the cache"),
        FetchError::Refused { .. } => Problem::failed("hub-answer", told).with_hint(format!(
            "the model's page may say why: {page}; if there is none, look at HF_ENDPOINT and at the proxy"
        )),
        FetchError::Endpoint { .. } => Problem::failed("hub-answer", told)
            .with_hint("HF_ENDPOINT is to be something like https://huggingface.co, or not to be set"),
        _ => Problem::failed("hub-answer", told).with_hint(
            "look whether HF_ENDPOINT names a Hub, and whether a proxy answers in its place",
        ),
    }
}
