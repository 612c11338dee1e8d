//! A response held to the grammar of what the model may write.

use crate::diagnostic::Diagnostic;
use crate::grammar::{Acceptor, Disallowed, Grammar, Next};
use crate::value::json;

/// How many of the things are told that might have stood at a place, and how many characters of what stands there.
const NEXT: usize = 8;
const FOUND: usize = 40;

/// The place at which a response leaves a grammar, as a finding that says what might have stood there; `None` where the response may be written, or is
/// the beginning of one that may: engines stop before the end. `end_tokens` are the tokens at which an engine stops, of which the grammar does not know: one of
/// them may stand behind a whole response.
///
/// ```
/// use obverse::check::disallowed;
/// use obverse::grammar::{Request, WrittenFormat};
/// use obverse::response_template::ResponseTemplate;
/// use obverse::value::json;
///
/// let template = json::parse(r#"{"start_anchor": "A:", "fields": {"content": {"close": "<end>"}}}"#)?;
/// let template = ResponseTemplate::from_value(&template)?;
/// let grammar = WrittenFormat::from_template(&template, &[]).grammar(&Request::default())?;
/// assert_eq!(disallowed("Hello<end>", &grammar, &[]), None);
/// assert_eq!(disallowed("Hello<e", &grammar, &[]), None);
/// let found = disallowed("Hello<end>!", &grammar, &[]).expect("something that is not allowed");
/// assert_eq!(found.place.span, Some(10..11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn disallowed(response: &str, grammar: &Grammar, end_tokens: &[String]) -> Option<Diagnostic> {
    let mut acceptor = Acceptor::new(grammar);
    let refused = acceptor.feed(response).err()?;
    let rest = response[refused.at()..].trim_end();
    let next = acceptor.next();
    if next.contains(&Next::End) && end_tokens.iter().any(|token| token == rest) {
        return None;
    }
    let Disallowed::Character { at, length } = refused else {
        let message = format!("the response cannot be held to its grammar: {refused}");
        return Some(Diagnostic::error("not-allowed", message));
    };
    let mut expected: Vec<String> = next.iter().take(NEXT).map(Next::to_string).collect();
    if next.len() > NEXT {
        expected.push("or other things".to_owned());
    }
    let found: String = response[at..].chars().take(FOUND).collect();
    let message = format!(
        "the grammar of what the model may write does not allow what stands here\nexpected {}\nfound    {}",
        expected.join(", "),
        json::quote(&found),
    );
    let diagnostic = Diagnostic::error("not-allowed", message).with_span(at..at + length);
    Some(diagnostic.with_hint(
        "an engine that holds its model to `obverse grammar` refuses this: the model has to write it otherwise, or the tools are not those that it was given",
    ))
}
