//! Learning of calls in forms that the chat template does not write, with and without the messages that the responses must parse to.

use super::{Recorded, learn, message, tools};
use crate::derive::Derivation;
use crate::value::json;

/// A chat template whose calls are objects of JSON between two markers.
const OBJECTS: &str = r#"{%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>{{ m.content or '' }}
{%- for c in m.tool_calls or [] -%}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>{%- endfor -%}<end>
{%- else -%}<{{ m.role }}>{{ m.content }}<end>{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}<bot>{%- endif -%}"#;

const CITIES: [&str; 4] = ["Paris", "Rome", "Oslo", "Bern"];

/// A response, with the content that it has and how many calls of the one tool.
struct Form<'f> {
    /// The response, with `OBJECT` for the object of a call, `ARGUMENTS` for its arguments and `CITY` for the city in these.
    response: &'f str,
    content: &'f str,
    calls: usize,
}

impl Form<'_> {
    fn response(&self, city: &str) -> String {
        let arguments = format!(r#"{{"city": "{city}"}}"#);
        let object = format!(r#"{{"name": "get_weather", "arguments": {arguments}}}"#);
        let response = self.response.replace("OBJECT", &object);
        response
            .replace("ARGUMENTS", &arguments)
            .replace("CITY", city)
    }

    fn expected(&self, city: &str) -> String {
        let call = format!(
            r#"{{"type": "function", "function": {{"name": "get_weather", "arguments": {{"city": "{city}"}}}}}}"#
        );
        let content = match self.content {
            "" => String::new(),
            text => format!(r#", "content": "{}""#, text.replace("CITY", city)),
        };
        let calls = vec![call; self.calls].join(", ");
        let expected = format!(r#"{{"role": "assistant"{content}, "tool_calls": [{calls}]}}"#);
        json::to_string(&json::parse(&expected).unwrap())
    }

    /// Derives with three of these responses, and checks that a fourth one is read.
    fn learnt(&self, with_messages: bool) -> Derivation {
        let [held, taught @ ..] = CITIES;
        let recorded: Vec<Recorded> = taught
            .iter()
            .map(|city| Recorded {
                name: (*city).to_owned(),
                response: self.response(city),
                prefix: None,
                tools: tools(),
                expected: with_messages.then(|| json::parse(&self.expected(city)).unwrap()),
            })
            .collect();
        let derivation = learn(OBJECTS, &recorded, &[]);
        assert!(derivation.report.verified);
        let report = derivation.report.responses.as_ref().unwrap();
        assert_eq!(report.right, 3, "{report:#?}");
        let parsed = json::parse(&message(&derivation, "<bot>", &self.response(held))).unwrap();
        let expected = json::parse(&self.expected(held)).unwrap();
        for key in ["content", "tool_calls"] {
            assert_eq!(parsed.get(key), expected.get(key), "{}", self.response);
        }
        derivation
    }
}

#[test]
fn a_call_of_which_a_marker_or_both_are_missing() {
    for response in ["OBJECT</call><end>", "OBJECT<end>"] {
        let form = Form {
            response,
            content: "",
            calls: 1,
        };
        let derivation = form.learnt(true);
        let said = r#"Write {\"city\": 1} or {\"name\": 2}."#;
        let response = json::parse(&format!("\"{said}\"")).unwrap();
        let read = message(
            &derivation,
            "<bot>",
            &format!("{}<end>", response.as_str().unwrap()),
        );
        assert_eq!(
            read,
            format!(r#"{{"role": "assistant", "content": "{said}"}}"#)
        );
    }
}

#[test]
fn a_call_between_other_markers() {
    for with_messages in [true, false] {
        for response in [
            "Look at CITY.\n~~~use\nOBJECT\n~~~<end>",
            "Look at CITY.<ring>OBJECT</ring><end>",
        ] {
            let form = Form {
                response,
                content: "Look at CITY.",
                calls: 1,
            };
            form.learnt(with_messages);
        }
        let form = Form {
            response: "<call>get_weather(ARGUMENTS)</call><end>",
            content: "",
            calls: 1,
        };
        form.learnt(with_messages);
    }
    // Words may stand around a name that is in no object.
    for (response, content) in [
        (
            "Look at CITY.<call>get_weather(ARGUMENTS)</call><end>",
            "Look at CITY.",
        ),
        ("Action: get_weather\nAction Input: ARGUMENTS<end>", ""),
    ] {
        let form = Form {
            response,
            content,
            calls: 1,
        };
        form.learnt(true);
    }
}

#[test]
fn several_calls_between_one_pair_of_markers() {
    let responses = [
        "<call>[OBJECT, OBJECT]</call><end>",
        "<call>OBJECT\nOBJECT</call><end>",
    ];
    for response in responses {
        for with_messages in [true, false] {
            let derivation = Form {
                response,
                content: "",
                calls: 2,
            }
            .learnt(with_messages);
            // An argument may be a list of what begins as a call does.
            let arguments = r#"{"city": [{"name": "a"}, {"name": "b"}]}"#;
            let call =
                format!(r#"<call>{{"name": "get_weather", "arguments": {arguments}}}</call><end>"#);
            let read = message(&derivation, "<bot>", &call);
            assert!(
                read.contains(&format!(r#""arguments": {arguments}"#)),
                "{read}"
            );
        }
    }
}

/// A reasoning that no render shows may stand directly before a call.
#[test]
fn a_reasoning_before_a_call_alone() {
    let recorded = CITIES.map(|city| {
        let form = Form {
            response: "<muse>\nIn CITY?\n</muse>\n<call>OBJECT</call><end>",
            content: "",
            calls: 1,
        };
        let mut expected = json::parse(&form.expected(city))
            .unwrap()
            .as_object()
            .unwrap()
            .clone();
        expected.insert("reasoning_content".to_owned(), format!("In {city}?").into());
        Recorded {
            name: city.to_owned(),
            response: form.response(city),
            prefix: None,
            tools: tools(),
            expected: Some(expected.into()),
        }
    });
    let derivation = learn(OBJECTS, &recorded, &[]);
    let report = derivation.report.responses.unwrap();
    assert_eq!((report.right_before, report.right), (0, 4), "{report:#?}");
}

/// A constant right before a call belongs to the call. It must not be taken away where an answer has it.
#[test]
fn a_marker_before_a_call_is_no_end_of_the_content() {
    let form = Form {
        response: "<system>OBJECT<end>",
        content: "",
        calls: 1,
    };
    let derivation = form.learnt(true);
    let said = "Hello, <system> is a marker.";
    let read = message(&derivation, "<bot>", &format!("{said}<end>"));
    assert_eq!(
        read,
        format!(r#"{{"role": "assistant", "content": "{said}"}}"#)
    );
}
