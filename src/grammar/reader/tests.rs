//! One message, and one sequence of events, however a response is cut.

use super::*;
use crate::grammar::peg::build::*;
use crate::parser::push_joined;
use crate::value::json;

fn template(expr: Expr) -> Template {
    Template::new(Grammar::build(expr).unwrap_or_else(|error| panic!("{error}")))
}

use crate::grammar::peg::build::Expr;

type Told = (Vec<Event<'static>>, Vec<ParseError>, Map);

fn told(template: &Template, pieces: &[&[u8]]) -> Told {
    let mut reader = Reader::new(template);
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| push_joined(&mut events, event);
    for piece in pieces {
        reader.feed(piece, &mut sink);
    }
    reader.finish(&mut sink);
    let errors = reader.take_errors();
    (events, errors, reader.into_message())
}

fn same_for_every_cut(template: &Template, text: &str) -> Told {
    let text = text.as_bytes();
    let whole = told(template, &[text]);
    let bytes: Vec<&[u8]> = text.chunks(1).collect();
    assert_eq!(told(template, &bytes), whole, "byte by byte");
    for at in 1..text.len() {
        let (before, behind) = text.split_at(at);
        assert_eq!(told(template, &[before, behind]), whole, "cut at {at}");
    }
    whole
}

/// Reasoning, content and calls with their arguments as one object.
fn native() -> Template {
    let call = "<call>"
        + cut()
        + tag("tool-name", until(":"))
        + ":"
        + tag("tool-args", json())
        + "</call>";
    template(
        optional("<t>" + cut() + tag("reasoning", until("</t>")) + "</t>")
            + tag("content", until("<call>"))
            + zero_or_more(tag("tool", call) + space())
            + end(),
    )
}

fn written(message: Map) -> String {
    json::to_string(&Value::Object(message))
}

#[test]
fn a_native_message() {
    let text =
        "<t>Grübeln < </t>Gut.<call>add:{\"a\": [1, \"</call>\"]}</call> \n<call>f:{}</call>";
    let (events, errors, message) = same_for_every_cut(&native(), text);
    assert_eq!(errors, []);
    assert_eq!(
        written(message),
        r#"{"role": "assistant", "reasoning_content": "Grübeln < ", "content": "Gut.", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"a": [1, "</call>"]}}}, {"type": "function", "function": {"name": "f", "arguments": {}}}]}"#
    );
    let kinds: Vec<(&str, &str)> = events
        .iter()
        .map(|event| (event.type_name(), event.field()))
        .collect();
    let region = |field| {
        ["region_open", "region_chunk", "region_close"]
            .map(|kind| (kind, field))
            .to_vec()
    };
    let calls = [region(CALLS), region(CALLS)].concat();
    assert_eq!(
        kinds,
        [region("reasoning_content"), region("content"), calls].concat()
    );
}

#[test]
fn a_text_that_does_not_match_keeps_what_was_read() {
    for text in [
        "<t>Grübeln",
        "<t>Grübeln</t>Gut.<call>add:{\"a\": 1}</ca",
        "<t>Grübeln</t>Gut.<call>add:{\"a\": 1}</cxll>",
        "<t>Grübeln</t>Gut.<call>add:{'a': 1}</call>",
        "<t>Grübeln</t>Gut.<call>add:{}</call> and more",
    ] {
        let (_, errors, message) = same_for_every_cut(&native(), text);
        assert_eq!(errors.len(), 1, "{text}");
        assert_eq!(errors[0].kind, ErrorKind::Grammar);
        assert_eq!(
            message["reasoning_content"],
            Value::from("Grübeln"),
            "{text}"
        );
        assert_eq!(message.contains_key("tool_calls"), text.ends_with("more"));
    }
    let (_, errors, _) = told(&native(), &[b"Gut.<call>add:{'a': 1}</call>"]);
    assert_eq!(
        errors[0].message,
        "the response does not match the grammar: at byte 15 \"}\" or \"\\\"\" is expected"
    );
    assert_eq!(errors[0].field.as_deref(), Some("tool_calls"));
}

#[test]
fn text_is_told_as_it_arrives() {
    let mut reader = Reader::new(&native());
    let mut events = Vec::new();
    reader.feed(b"<t>Let me think", &mut |event| {
        events.push(event.into_owned())
    });
    let chunk = Event::RegionChunk {
        field: "reasoning_content".into(),
        text: "Let me think".into(),
        dirty: false,
    };
    assert_eq!(events.last(), Some(&chunk));
    assert_eq!(
        reader.into_message()["reasoning_content"],
        Value::from("Let me think")
    );
}

#[test]
fn without_a_cut_what_may_be_taken_back_is_not_told() {
    let template = template(
        optional("<t>" + tag("reasoning", until("</t>")) + "</t>") + tag("content", rest()),
    );
    let mut reader = Reader::new(&template);
    let mut count = 0;
    reader.feed(b"<t>Let me think", &mut |_| count += 1);
    assert_eq!(count, 0);
    let (_, errors, message) = same_for_every_cut(&template, "<t>Let me think");
    assert_eq!(errors, []);
    assert_eq!(message["content"], Value::from("<t>Let me think"));
}

#[test]
fn a_constructed_message() {
    let name = |close: &str| tag("tool-arg-name", until(close));
    let argument = "<p "
        + name(">")
        + ">"
        + (("\"" + tag("tool-arg-string-value", until("\"</p>")) + "\"")
            | tag("tool-arg-value", until("</p>")))
        + "</p>";
    let call = tag("tool-open", "<f=" + tag("tool-name", until(">")) + ">")
        + cut()
        + zero_or_more(tag("tool-arg", argument))
        + tag("tool-close", literal("</f>"));
    let template = template(tag("content", until("<f=")) + zero_or_more(call) + end());
    let text = "<f=a><p x>\"say \"hi\"\n\"</p><p y>{'k': None}</p><p z>[1, 2]</p></f><f=b></f>";
    let (_, errors, message) = same_for_every_cut(&template, text);
    assert_eq!(errors, []);
    assert_eq!(
        written(message),
        r#"{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "a", "arguments": {"x": "say \"hi\"\n", "y": {"k": null}, "z": [1, 2]}}}, {"type": "function", "function": {"name": "b", "arguments": {}}}]}"#
    );
    // A member that is no value is left out, and the rest is read.
    let text = "<f=a><p x>nonsense</p></f><f=b></f>";
    let (_, errors, message) = same_for_every_cut(&template, text);
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (errors[0].kind.name(), errors[0].span.clone()),
        ("json", Some(0..26))
    );
    assert_eq!(
        message["tool_calls"].as_array().map(<[Value]>::len),
        Some(1)
    );
}

#[test]
fn tags_within_tags_to_any_depth_and_texts_with_escapes() {
    let value = rule(
        "value",
        choice([
            "<o>" + tag("object", zero_or_more(tag("member", reference("member")))) + "</o>",
            "<a>" + tag("array", zero_or_more(reference("value"))) + "</a>",
            tag("null", literal("<nil/>")),
            "<s>" + tag("escaped", until("</s>")) + "</s>",
            "<n>" + tag("json", json_number()) + "</n>",
        ]),
    );
    let member = "<k>" + tag("key", until("</k>")) + "</k>" + reference("value");
    let root = tag("content", eps())
        + tag(
            "tool",
            "call " + tag("tool-name", chars("[a-z]", 1, None)) + " " + tag("tool-args", value),
        )
        + end();
    let grammar = Grammar::with_rules(root, [("member".into(), member)]).expect("a grammar");
    let text = "call f <o><k>a</k><a><s>x\\n\\u00e9</s><nil/><o></o></a><k>b</k><n>1.50</n></o>";
    let (_, errors, message) = same_for_every_cut(&Template::new(grammar), text);
    assert_eq!(errors, []);
    assert_eq!(
        written(message),
        r#"{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": ["x\né", null, {}], "b": 1.5}}}]}"#
    );
}

#[test]
fn the_prefix_is_read_from_the_anchor_on() {
    let text = r#"{"peg": 1, "root": {"sequence": [
        {"optional": {"sequence": [{"literal": "<t>"}, {"tag": "reasoning", "of": {"until": "</t>"}}, {"literal": "</t>"}]}},
        {"tag": "content", "of": "rest"}]},
        "message": {"start_anchor": "[A]", "reasoning": "thinking", "defaults": {"role": "assistant", "content": ""}}}"#;
    let template = Template::from_json(text).expect("a template");
    assert_eq!(
        Template::from_value(&template.to_value()),
        Ok(template.clone())
    );
    let mut reader = Reader::new(&template);
    let sink = &mut |_: Event<'_>| ();
    reader.read_prefix("[U]Hi[A]<t>So", sink);
    reader.feed(b" it is.</t>Yes", sink);
    reader.finish(sink);
    assert_eq!(
        written(reader.into_message()),
        r#"{"role": "assistant", "content": "Yes", "thinking": "So it is."}"#
    );
    let error = Template::from_json(r#"{"peg": 1, "root": "any", "message": {"reasonin": "x"}}"#);
    assert_eq!(
        error.map_err(|error| error.to_string()),
        Err("$.message.reasonin: there is no `reasonin`, only `defaults`, `start_anchor` and `reasoning`".to_owned())
    );
}

#[test]
fn the_last_of_several_anchors_counts() {
    let text = r#"{"peg": 1, "root": {"tag": "content", "of": "rest"}, "message": {"start_anchor": ["[A]", "[R]"]}}"#;
    let template = Template::from_json(text).expect("a template");
    assert_eq!(
        Template::from_value(&template.to_value()),
        Ok(template.clone())
    );
    for (prefix, message) in [
        ("[A]x[R]", r#"{"role": "assistant", "content": "y"}"#),
        ("[R]x[A]z", r#"{"role": "assistant", "content": "zy"}"#),
    ] {
        let mut reader = Reader::new(&template);
        let sink = &mut |_: Event<'_>| ();
        reader.read_prefix(prefix, sink);
        reader.feed(b"y", sink);
        reader.finish(sink);
        assert_eq!(written(reader.into_message()), message, "{prefix}");
    }
    let wrong = r#"{"peg": 1, "root": "any", "message": {"start_anchor": ["x", 1]}}"#;
    let error = Template::from_json(wrong).map_err(|error| error.to_string());
    assert_eq!(
        error,
        Err("$.message.start_anchor[1]: this must be a string, not a number".to_owned())
    );
}

/// A value between tags is what it looks like, unless the tools say otherwise.
#[test]
fn arguments_have_the_types_of_the_tools() {
    let value = choice([
        tag("tool-arg-value", json()) + peek(literal(";")),
        tag("tool-arg-value", python()) + peek(literal(";")),
        tag("tool-arg-string-value", until(";")),
    ]);
    let argument = tag("tool-arg-name", until("=")) + "=" + value + ";";
    let call = tag("tool-name", until(":")) + ":" + zero_or_more(argument);
    let template = template(tag("tool", call) + end());
    let read = |tools: &str, text: &str| {
        let tools = json::parse(tools).expect("tools");
        let mut reader = Reader::new(&template).tools(tools.as_array().expect("a list"));
        let sink = &mut |_: Event<'_>| ();
        reader.feed(text.as_bytes(), sink);
        reader.finish(sink);
        assert_eq!(reader.take_errors(), []);
        let message = Value::Object(reader.into_message());
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let function = calls.and_then(|calls| calls[0].get("function"));
        json::to_string(
            function
                .and_then(|f| f.get("arguments"))
                .expect("arguments"),
        )
    };
    let text = "f:a=5;b=['x', None];c=[1;d=Yes;e=2;";
    assert_eq!(
        read("[]", text),
        r#"{"a": 5, "b": ["x", null], "c": "[1", "d": "Yes", "e": 2}"#
    );
    let tools = r##"[{"function": {"name": "f", "parameters": {"properties": {"a": {"type": "string"},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "c": {"type": "array"}, "d": {"$ref": "#/$defs/d"},
        "e": {"type": "number"}}, "$defs": {"d": {"type": "string"}}}}}]"##;
    assert_eq!(
        read(tools, text),
        r#"{"a": "5", "b": "['x', None]", "c": "[1", "d": "Yes", "e": 2}"#
    );
    let other = tools.replace("\"f\"", "\"g\"");
    assert_eq!(
        read(&other, text),
        read("[]", text),
        "of another tool nothing is known"
    );
}

/// The text of what is not shown yet was let go.
#[test]
fn what_is_atomic_is_told_whole() {
    let whole = optional("<t>" + tag("reasoning", until("</t>")) + "</t>") + tag("content", rest());
    let template = template(tag("x", atomic(whole + end())));
    let (events, errors, message) = same_for_every_cut(&template, "<t>Hm</t>Hello");
    assert_eq!(errors, []);
    assert_eq!(events.len(), 6);
    assert_eq!(
        written(message),
        r#"{"role": "assistant", "reasoning_content": "Hm", "content": "Hello"}"#
    );
}

/// Content without any text is no event.
#[test]
fn content_is_told_with_its_first_text() {
    let (events, _, _) = same_for_every_cut(&native(), "<call>f:{}</call>");
    assert_eq!(
        events.iter().map(Event::field).collect::<Vec<_>>(),
        [CALLS; 3]
    );
}
