//! What a caller can ask of a parser.

use super::limits::Limits;

/// What a parser is told beside its template; the default is what the reference does.
///
/// ```
/// use obverse::parser::{OnError, Options, ResponseParser};
/// use obverse::response_template::ResponseTemplate;
///
/// let template = ResponseTemplate::from_json(
///     r#"{"start_anchor": "A:", "fields": {"content": {}, "call": {"open": "<call>", "close": "</call>", "content": "json"}}}"#,
/// )?;
/// let options = Options { on_error: OnError::Keep, ..Options::default() };
/// let mut parser = ResponseParser::with_options(template, "", &[], options)?;
/// parser.feed("<call>{oops</call>Sorry.")?;
/// let (message, _) = parser.finalize()?;
/// assert_eq!(message["content"].as_str(), Some("Sorry."));
/// assert_eq!(parser.malformed()[0].raw.as_deref(), Some("{oops"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// What the parse may take.
    pub limits: Limits,
    /// What becomes of a region that does not parse.
    pub on_error: OnError,
    /// Whether delimiters that begin inside a string of a `json` region do not count; see [`crate::content`]. In the
    /// reference they close it.
    pub skip_json_strings: bool,
    /// Whether to keep where each delimiter stands, for [`super::ResponseParser::take_delimiters`].
    pub keep_delimiters: bool,
}

/// What becomes of a region whose text is not what its content parser, its transform or the merge takes. In neither case
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
