//! Exchanges kept as fixtures.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::{Fixture, Prompt, Setting};
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// The file by which `obverse check` knows what the fixtures below a folder are parsed with.
const DOCUMENT: &str = "response_template.json";

/// A folder of fixtures.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    folder: PathBuf,
    template: Arc<ResponseTemplate>,
}

/// How an exchange went, as far as the server can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// To its end.
    Ended,
    /// To its end, with a marker in a text that should have been a delimiter.
    Doubtful,
    /// Not to its end.
    CutShort,
}

/// The part of an exchange that is kept while it goes on.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub(super) prompt: String,
    pub(super) tools: Vec<Value>,
    /// The response so far, none of its pieces empty.
    pub(super) chunks: Vec<String>,
}

impl Recorder {
    /// A recorder into a folder, which is made if it is not there, and has the response template put into it.
    ///
    /// # Errors
    ///
    /// That the folder cannot be written, or has another response template.
    pub(super) fn new(
        folder: &Path,
        document: &str,
        template: Arc<ResponseTemplate>,
    ) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        let path = folder.join(DOCUMENT);
        match fs::read_to_string(&path) {
            Ok(there) if there == document => {}
            Ok(_) => {
                return Err(format!(
                    "{} is another response template; the fixtures of each need a folder of their own",
                    path.display()
                ));
            }
            Err(_) => fs::write(&path, document).map_err(failed)?,
        }
        Ok(Self {
            folder: folder.to_owned(),
            template,
        })
    }

    /// Writes the fixture of an exchange; gives its folder. A fixture of what went wrong fails in a check: where a region does not parse or
    /// text is left over, since that is not recorded as expected; where it is doubtful, since no message is recorded. What was cut short is
    /// recorded as it is.
    ///
    /// # Errors
    ///
    /// That it cannot be written.
    pub(super) fn keep(&self, name: &str, kept: Kept, how: How) -> Result<PathBuf, String> {
        let response = kept.chunks.concat();
        let setting = Setting::new(&self.template, &kept.prompt, &kept.tools);
        let whole = setting.replay([response.as_str()]);
        let mut fixture = Fixture {
            response,
            chunks: Some(kept.chunks),
            prompt: Prompt::Text(kept.prompt),
            tools: kept.tools,
            ..Fixture::default()
        };
        match how {
            How::Ended => fixture.expected = Some(Value::Object(whole.message)),
            How::Doubtful => {}
            How::CutShort => fixture = fixture.with(&whole),
        }
        let folder = self.folder.join(name);
        fixture.write(&folder).map_err(|error| error.to_string())?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Effort, check};

    fn recorder(folder: &Path, close: &str) -> Result<Recorder, String> {
        let document = format!(
            r#"{{"start_anchor": "A:", "fields": {{"content": {{}}, "calls": {{"open": "<c>", "close": "{close}", "content": "json"}}}}}}"#
        );
        let template = Arc::new(ResponseTemplate::from_json(&document).unwrap());
        Recorder::new(folder, &document, template)
    }

    /// How many things `check` finds wrong with the fixture of a response.
    fn found(response: &str, how: How) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder(folder.path(), "</c>").unwrap();
        let kept = Kept {
            prompt: "Q A:".to_owned(),
            chunks: vec![response.to_owned()],
            ..Kept::default()
        };
        let path = recorder.keep("one", kept, how).unwrap();
        let fixture = Fixture::read(&path).unwrap();
        assert_eq!(fixture.response, response);
        check(&fixture, &recorder.template, "Q A:", &Effort::default())
            .1
            .len()
    }

    #[test]
    fn what_went_wrong_is_a_fixture_that_fails() {
        assert_eq!(found("Hi<c>{}</c>", How::Ended), 0);
        assert_eq!(found("Hi<c>{oops</c>", How::Ended), 1, "it does not parse");
        assert_eq!(found("Hi</c>", How::Doubtful), 1, "no message");
        assert_eq!(found("Hi<c>{oo", How::CutShort), 0);
    }

    #[test]
    fn a_folder_is_of_one_response_template() {
        let folder = tempfile::tempdir().unwrap();
        recorder(folder.path(), "</c>").unwrap();
        recorder(folder.path(), "</c>").unwrap();
        let error = recorder(folder.path(), "</d>").unwrap_err();
        assert!(error.contains("another response template"), "{error}");
    }
}
