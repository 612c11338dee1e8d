//! The options of a parser.

use super::limits::Limits;

/// The options of a parser, which it is given beside its template. The defaults do as the reference does.
///
/// ```
/// use obverse::parser::{OnError, Options, ResponseParser};
/// use obverse::response_template::ResponseTemplate;
///
/// let template = ResponseTemplate::from_json(
///     r#"{"start_anchor": "A:", "fields": {"content": {}, "call": {"open": "<call>", "close": "</call>", "content": "json"}}}"#,
/// )?;
/// let options = Options::default().on_error(OnError::Keep);
/// let mut parser = ResponseParser::with_options(template, "", &[], options)?;
/// parser.feed("<call>{oops</call>Sorry.")?;
/// let (message, _) = parser.finalize()?;
/// assert_eq!(message["content"].as_str(), Some("Sorry."));
/// assert_eq!(parser.malformed()[0].raw.as_deref(), Some("{oops"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How much the parse may take.
    pub limits: Limits,
    /// How a region is treated that does not parse.
    pub on_error: OnError,
    /// True if delimiters that begin inside a string of a `json` region do not count; see [`crate::content`]. In the
    /// reference they close it.
    pub skip_json_strings: bool,
    /// True to keep the place of each delimiter, for [`super::ResponseParser::take_delimiters`].
    pub keep_delimiters: bool,
    /// True to keep nothing of the message, for callers that use the events alone: what is kept is then what the open region and the
    /// delimiters need, however long the response is. The value of a region is told when it closes and is gone after that; a text that no
    /// transform changes is told in its chunks alone, its close having an empty text. The message has only the defaults then. Regions that
    /// do not parse and text that is in no field are kept all the same, and so is the text of regions in which markers are looked for.
    pub forget: bool,
}

impl Options {
    /// Sets how much the parse may take.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets how a region is treated that does not parse.
    pub fn on_error(self, on_error: OnError) -> Self {
        Self { on_error, ..self }
    }

    /// Sets [`Options::skip_json_strings`].
    pub fn skip_json_strings(self, skip_json_strings: bool) -> Self {
        Self {
            skip_json_strings,
            ..self
        }
    }

    /// Sets [`Options::keep_delimiters`].
    pub fn keep_delimiters(self, keep_delimiters: bool) -> Self {
        Self {
            keep_delimiters,
            ..self
        }
    }

    /// Sets [`Options::forget`].
    pub fn forget(self, forget: bool) -> Self {
        Self { forget, ..self }
    }
}

/// How a region is treated whose text its content parser, its transform or the merge does not take. In neither case
/// does it fill its field. Other errors are always returned: limits, required fields that are missing, and use after the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnError {
    /// Its error is returned by the call that met it.
    #[default]
    Return,
    /// Its error is kept with the text as the model wrote it, [`super::ResponseParser::malformed`] lists it, and
    /// [`super::Event::RegionError`] tells of it where a `RegionClose` would; the call goes on.
    Keep,
}
