//! How the Hub is asked: where it is, as whom, and with how much patience.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use super::variables::{self, Variable};

/// The Hub that is asked where no variable names another one.
const ENDPOINT: &str = "https://huggingface.co";

/// How the Hub is asked.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HubSettings {
    /// The base of the addresses, without a slash at its end.
    pub endpoint: String,
    /// The token that is sent to the endpoint, and to nobody else.
    pub token: Option<String>,
    /// True if nothing may be asked.
    pub is_offline: bool,
    /// How often the same thing is asked, where the answer may be another one the next time.
    pub tries: u32,
    /// For how long a pause may be that the server asks for; a longer one is not waited for.
    pub longest_pause: Duration,
}

impl Default for HubSettings {
    fn default() -> Self {
        Self {
            endpoint: ENDPOINT.to_owned(),
            token: None,
            is_offline: false,
            tries: 4,
            longest_pause: Duration::from_secs(60),
        }
    }
}

/// The token is left out, so that no log gets it.
impl std::fmt::Debug for HubSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubSettings")
            .field("endpoint", &self.endpoint)
            .field("has_token", &self.token.is_some())
            .field("is_offline", &self.is_offline)
            .field("tries", &self.tries)
            .field("longest_pause", &self.longest_pause)
            .finish()
    }
}

impl HubSettings {
    /// The settings that `huggingface_hub` has with these variables: `HF_ENDPOINT`; `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE`; and as the
    /// token `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN` or what is in the file `HF_TOKEN_PATH`, or `token` in `HF_HOME`, unless
    /// `HF_HUB_DISABLE_IMPLICIT_TOKEN` is set. That the file cannot be read counts as having no token.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let variable: Variable<'_> = &variable;
        let is_true = |name| variables::is_true(variable, name);
        let endpoint = variables::text(variable, "HF_ENDPOINT");
        let endpoint = endpoint.as_deref().unwrap_or(ENDPOINT);
        // The first one that is set counts, even where it says no.
        let offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
            .into_iter()
            .find(|name| variables::text(variable, name).is_some());
        let token = match is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            true => None,
            false => token(variable),
        };
        Self {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            token,
            is_offline: offline.is_some_and(is_true),
            ..Self::default()
        }
    }

    /// The settings of this process's variables; see [`from_variables`](Self::from_variables).
    pub fn of_process() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Sets for how long a pause may be that the server asks for.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }
}

/// The token that the client has stored, or that it is given.
fn token(variable: Variable<'_>) -> Option<String> {
    let cleaned = |text: String| {
        let text = text.replace(['\r', '\n'], "");
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let given = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]
        .into_iter()
        .find_map(|name| variables::text(variable, name));
    given.and_then(cleaned).or_else(|| {
        let file = variables::path(variable, "HF_TOKEN_PATH");
        let file = file.or_else(|| Some(variables::hf_home(variable)?.join("token")))?;
        cleaned(fs::read_to_string(file).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[(&str, &str)]) -> HubSettings {
        HubSettings::from_variables(|name| {
            let found = given.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_variables_are_those_of_the_client() {
        assert_eq!(settings(&[]), HubSettings::default());
        let all = settings(&[
            ("HF_ENDPOINT", "http://mirror:8080//"),
            ("HF_TOKEN", " hf_one\n"),
            ("HUGGING_FACE_HUB_TOKEN", "hf_two"),
            ("HF_HUB_OFFLINE", "yes"),
        ]);
        assert_eq!(all.endpoint, "http://mirror:8080");
        assert_eq!(all.token.as_deref(), Some("hf_one"));
        assert!(all.is_offline);
        let old = settings(&[("HUGGING_FACE_HUB_TOKEN", "hf_two")]);
        assert_eq!(old.token.as_deref(), Some("hf_two"));
        let implicit = [("HF_TOKEN", "t"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")];
        assert_eq!(settings(&implicit).token, None);
        assert!(settings(&[("TRANSFORMERS_OFFLINE", "true")]).is_offline);
        let first = [("HF_HUB_OFFLINE", "0"), ("TRANSFORMERS_OFFLINE", "1")];
        assert!(!settings(&first).is_offline);
    }

    #[test]
    fn the_token_of_the_client_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().display().to_string();
        fs::write(folder.path().join("token"), "hf_stored\n").expect("written");
        fs::write(folder.path().join("other"), "hf_other").expect("written");
        let of = |given: &[(&str, &str)]| settings(given).token.unwrap_or_default();
        assert_eq!(of(&[("HF_HOME", &home)]), "hf_stored");
        let other = format!("{home}/other");
        assert_eq!(
            of(&[("HF_HOME", &home), ("HF_TOKEN_PATH", &other)]),
            "hf_other"
        );
        assert_eq!(
            of(&[("HF_HOME", &home), ("HF_TOKEN", "hf_given")]),
            "hf_given"
        );
    }

    #[test]
    fn the_token_is_not_shown() {
        let shown = format!("{:?}", settings(&[("HF_TOKEN", "hf_secret")]));
        assert!(
            shown.contains("has_token: true") && !shown.contains("secret"),
            "{shown}"
        );
    }
}
