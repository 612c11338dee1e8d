//! Calls that open only where their body begins.
//!
//! A model speaks of the marker that opens its calls, and writes it twice. Where nothing more than that marker is asked for, `Wrap it in <call>, please` opens a
//! call whose body is prose: that is an error where the body is JSON, and a call of the tool `please` where the name stands there. So a call is taken to open only
//! where something follows that every body begins with: `<call>` before `{"`. Of `<call><call>{"` the first is then text, and nothing is lost with it. (It is passed over where it is a constant that no text of every day has in it:
//! [`super::twice`]. Otherwise a text may end with the like of a marker, such as three dots or the word `call`, and would lose it without anybody hearing of it.)
//!
//! Where a name ends the marker, what follows also says that the name has ended: of `<call>get_wea`, where a response is cut short, no call is made. And a text
//! may name a whole opening, as in `I could write <call name="f">`.
//!
//! Nothing that the renders prove is lost: the responses in which a call opens are parsed again, once.

use super::{CALLS_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{
    NAMED, SPACE, enclosed, grouped, looks_around, optional_beginning, split_id_ahead,
    without_captures, without_references,
};
use crate::judge::{Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument};

/// Returns the response template with calls that open only where their body begins; `None` where they say enough without that, or a response would be read
/// otherwise. `body` is a pattern for what every body begins with.
pub(in crate::derive) fn opened_at_their_body(
    engines: &[Engine],
    document: &Document,
    body: &str,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<Document> {
    let mut changed = document.clone();
    let field = changed.fields.get_mut(CALLS_KEY)?;
    let open = split::source(field.open.as_ref()?);
    let (marker, ids) = split_id_ahead(&open);
    let (section, own) = optional_beginning(marker);
    let own = own.strip_suffix(SPACE).unwrap_or(own);
    if own.is_empty() || looks_around(&without_guards(own)) {
        return None;
    }
    // An opening with a name in it that stands there twice begins one call.
    let is_around_name = own.contains(NAMED) && !own.ends_with(')');
    let whole = format!("{section}{own}");
    let again = is_around_name.then(|| without_captures(&without_references(&whole, &whole)?));
    let again = again.flatten().map(|whole| format!("|{whole}"));
    let again = again.unwrap_or_default();
    let ahead = format!("{section}{}{SPACE}(?={body}{again}){ids}", grouped(own));
    field.open = Some(Delimiter::pattern(ahead));
    let seen = Pattern::regex(&open).ok()?;
    let has_it = |case: &&Case| !matches!(seen.search(&case.response, 0), Ok(None));
    let others = cases.iter().filter(has_it);
    reads_as_before(engines, document, &changed, others, scrutiny).then_some(changed)
}

/// A pattern for what an argument in tags begins with, as the response template has it by now; `None` where that is its name or its value.
pub(in crate::derive) fn beginning_of_tags(field: &FieldDocument) -> Option<String> {
    let tag = field.content_args.get("tag_pattern")?.as_str()?;
    let begin = &tag[..tag.find("(?P<")?];
    let begin = begin.strip_suffix(SPACE).unwrap_or(begin);
    // What may be missing says nothing.
    let takes = Pattern::regex(begin).ok()?.search("", 0);
    let is_there = takes.is_ok_and(|found| found.is_none());
    is_there.then(|| begin.to_owned())
}

/// The opening of a call without what says before its name that it is no other marker: `<(?!think>)NAME>` becomes `<NAME>`.
fn without_guards(own: &str) -> String {
    let Some((before, named)) = own.find(NAMED).map(|at| own.split_at(at)) else {
        return own.to_owned();
    };
    let mut before = before;
    while let Some(at) = before
        .rfind("(?!")
        .filter(|at| enclosed(&before[*at..], "(?!").is_some())
    {
        before = &before[..at];
    }
    format!("{before}{named}")
}

#[cfg(test)]
mod tests {
    use super::without_guards;
    use crate::chat_template;
    use crate::derive::{Derivation, Options, derive};
    use crate::parser::parse_response;
    use crate::response_template::{Engine, ResponseTemplate};
    use crate::value::Value;

    /// A chat template whose calls are written by `calls`, for a variable `c`, in a section between these two texts.
    fn derived(calls: &str, section: [&str; 2], engines: &[Engine]) -> Derivation {
        let [open, close] = section;
        let source = format!(
            "{{%- if tools %}}<tools>{{{{ tools | tojson }}}}<end>{{% endif -%}}
{{%- for m in messages -%}}<{{{{ m.role }}}}>{{{{ m.content or '' }}}}
{{%- if m.tool_calls %}}{open}{{% for c in m.tool_calls %}}{calls}{{% endfor %}}{close}{{% endif -%}}
<end>{{%- endfor -%}}
{{%- if add_generation_prompt %}}<assistant>{{% endif -%}}"
        );
        let source = chat_template::from_text("it", &source).unwrap();
        let options = Options::default().engines(engines.to_vec());
        let derived = derive(&source, &options).unwrap();
        assert!(derived.report.verified, "{:#?}", derived.report.findings);
        derived
    }

    const JSON: &str = r#"<call>{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}</call>"#;

    const NAMED: &str = "<call>{{ c.function.name }}{% for k, v in c.function.arguments.items() %}<arg {{ k }}>{{ v if v is string else v | tojson }}</arg>{% endfor %}</call>";

    const CLOSED: &str = "<call {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<arg {{ k }}>{{ v if v is string else v | tojson }}</arg>{% endfor %}</call>";

    const LINES: &str = "<call>{{ c.function.name }}\n{% for k, v in c.function.arguments.items() %}{{ k }}: {{ v | tojson }}\n{% endfor %}</call>";

    /// The pattern that opens a call.
    fn open(derived: &Derivation) -> String {
        let open = derived.document.fields["tool_calls"].open.as_ref();
        open.unwrap().as_pattern()
    }

    /// The content of a response, and how many calls it has.
    fn read(derived: &Derivation, response: &str) -> (String, usize) {
        let template = ResponseTemplate::from_value(&derived.document.to_value()).unwrap();
        let message = parse_response(response, template, "", &[]).unwrap();
        let content = message.get("content").and_then(Value::as_str);
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let calls = calls.map_or(0, <[Value]>::len);
        (content.unwrap_or_default().to_owned(), calls)
    }

    #[test]
    fn a_marker_that_is_spoken_of_opens_no_call() {
        for calls in [JSON, NAMED, LINES] {
            let derived = derived(calls, ["", ""], &[]);
            let said = "Wrap it in <call> element, please.";
            assert_eq!(
                read(&derived, &format!("{said}<end>")),
                (said.to_owned(), 0)
            );
        }
        let lines = derived(LINES, ["", ""], &[]);
        for response in ["<call>f\na: 1\n</call><end>", "<call>f\n</call><end>"] {
            assert_eq!(read(&lines, response), (String::new(), 1), "{response}");
        }
        // Where the response is cut short in a name, nobody knows the name.
        let named = derived(NAMED, ["", ""], &[]);
        assert_eq!(read(&named, "<call>get_wea").1, 0);
        for response in ["<call>ping</call><end>", "<call>ping<end>"] {
            assert_eq!(read(&named, response), (String::new(), 1), "{response}");
        }
        assert_eq!(
            open(&named),
            r#"<call>\s*(?P<name>[^\s<"]+)\s*(?=<arg|</call>|<end>)"#
        );
    }

    /// Nothing closes a call but the next one, what closes their section, and the end of the turn or of the response.
    #[test]
    fn a_call_that_nothing_closes_opens_only_before_its_arguments_or_an_end() {
        let calls = "@F| {{ c.function.name }}{% for k, v in c.function.arguments.items() %} | {{ k }}={{ v | tojson }}{% endfor %}";
        for section in [["", ""], ["<all>", "</all>"]] {
            let derived = derived(calls, section, &[]);
            let said = "The sign @F| is used so, I think.";
            let response = format!("{said}<end>");
            assert_eq!(read(&derived, &response), (said.to_owned(), 0));
            let [open, close] = section;
            for (calls, count) in [("@F| f | a=1@F| g", 2), ("@F| f\n@F| g", 2), ("@F| g", 1)] {
                for end in ["<end>", ""] {
                    let response = format!("{open}{calls}{close}{end}");
                    assert_eq!(read(&derived, &response).1, count, "{response}");
                }
            }
        }
    }

    /// A marker that opens nothing is text.
    #[test]
    fn a_call_that_is_opened_twice_is_kept() {
        let derived = derived(JSON, ["", ""], &[]);
        assert_eq!(open(&derived), r#"(?:<call>\s*){1,2}(?=\{\s*["}])"#);
        let call = r#"{"name": "f", "arguments": {}}</call>"#;
        for (opened, content) in [
            ("<call>", "Hm."),
            ("<call>\n<call>\n", "Hm."),
            ("<call><call><call>", "Hm.<call>"),
        ] {
            let response = format!("Hm.{opened}{call}<end>");
            assert_eq!(
                read(&derived, &response),
                (content.to_owned(), 1),
                "{response}"
            );
        }
        let codes = derived.report.findings.iter().map(|finding| finding.code);
        assert!(codes.into_iter().any(|code| code == "call-opening"));
    }

    /// A text may end with the like of what opens a section.
    #[test]
    fn a_text_that_ends_with_a_marker_keeps_it() {
        let derived = derived(CLOSED, ["...", ""], &[]);
        let call = "<call f><arg a>1</arg></call><end>";
        for (said, response) in [("Wait...", "Wait......"), ("Wait", "Wait...")] {
            let read = read(&derived, &format!("{response}{call}"));
            assert_eq!(read, (said.to_owned(), 1), "{response}");
        }
    }

    /// Where calls and a reasoning have the same signs around a name, that a call has another name is no part of what opens it.
    #[test]
    fn a_name_that_is_not_the_reasonings_is_asked_for_a_body() {
        for (own, expected) in [
            ("<<(?!think>>)(?P<name>\\w+)>>", "<<(?P<name>\\w+)>>"),
            ("<(?!a>)(?!b>)(?P<name>\\w+)", "<(?P<name>\\w+)"),
            ("<call>(?!x)", "<call>(?!x)"),
        ] {
            assert_eq!(without_guards(own), expected);
        }
        let call =
            "<{{ c.function.name }}>{{ c.function.arguments | tojson }}</{{ c.function.name }}>";
        let derived = derived(call, ["", ""], &[]);
        let said = "An <i> and a <b>.";
        assert_eq!(
            read(&derived, &format!("{said}<end>")),
            (said.to_owned(), 0)
        );
        assert_eq!(read(&derived, "Go.<f>{\"a\": 1}</f><end>").1, 1);
    }

    /// A text may name a whole opening; a call whose opening stands there twice is one call.
    #[test]
    fn a_whole_opening_that_is_spoken_of_opens_no_call() {
        let derived = derived(CLOSED, ["", ""], &[]);
        assert_eq!(
            open(&derived),
            r#"<call\s+(?P<name>[^\s><"]+)\s*>\s*(?=<arg|</call>|<end>|<call\s+(?:[^\s><"]+)\s*>)"#
        );
        let said = "Write <call f> and its arguments.";
        assert_eq!(
            read(&derived, &format!("{said}<end>")),
            (said.to_owned(), 0)
        );
        for response in ["<call f><call f></call><end>", "<call f><end>"] {
            assert_eq!(read(&derived, response), (String::new(), 1), "{response}");
        }
    }

    #[test]
    fn an_engine_without_look_ahead_gets_none() {
        let engines: Vec<Engine> = Engine::ALL.to_vec();
        assert!(!open(&derived(JSON, ["", ""], &engines)).contains("(?="));
    }
}
