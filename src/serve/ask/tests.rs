use super::*;

fn read(protocol: Protocol, body: &str) -> Result<Turn, Refusal> {
    Turn::read(protocol, body.as_bytes())
}

fn shown(values: &[Value]) -> String {
    json::to_string(&Value::Array(values.to_vec()))
}

/// One conversation as each protocol has it, and as the chat template is to get it.
#[test]
fn the_protocols_say_the_same() {
    let chat = r#"{"model": "m", "messages": [{"role": "developer", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "Q"}]},
        {"role": "assistant", "reasoning_content": "R", "content": "A", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]},
        {"role": "tool", "content": "3", "tool_call_id": "c1"}],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}], "max_completion_tokens": 9, "temperature": 0, "user": "u"}"#;
    let responses = r#"{"model": "m", "instructions": "S", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Q"}]},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "R"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"a\": 1}"}, {"type": "function_call_output", "call_id": "c1", "output": "3"}],
        "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}], "max_output_tokens": 9, "temperature": 0}"#;
    let messages = r#"{"model": "m", "system": [{"type": "text", "text": "S"}], "messages": [{"role": "user", "content": "Q"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "R", "signature": ""}, {"type": "text", "text": "A"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "3"}]}],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}], "max_tokens": 9, "temperature": 0}"#;
    let expected = [
        r#"{"role": "system", "content": "S"}"#,
        r#"{"role": "user", "content": "Q"}"#,
        r#"{"role": "assistant", "reasoning_content": "R", "content": "A", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}"#,
        r#"{"role": "tool", "content": "3", "tool_call_id": "c1", "name": "f"}"#,
    ];
    for (protocol, body) in [
        (Protocol::OpenAi, chat),
        (Protocol::Responses, responses),
        (Protocol::Anthropic, messages),
    ] {
        let turn = read(protocol, body).unwrap();
        let given: Vec<String> = turn
            .messages(Manner::default())
            .iter()
            .map(json::to_string)
            .collect();
        assert_eq!(given, expected, "{protocol:?}");
        assert_eq!(
            shown(&turn.tools),
            r#"[{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]"#
        );
        assert_eq!(
            json::to_string(&Value::Object(turn.writing)),
            r#"{"max_tokens": 9, "temperature": 0}"#
        );
    }
}

#[test]
fn calls_are_written_in_the_template_s_manner() {
    let body = r#"{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]}"#;
    let turn = read(Protocol::OpenAi, body).unwrap();
    let manner = Manner {
        arguments_as_text: true,
        empty_content: true,
        ..Manner::default()
    };
    assert_eq!(
        shown(&turn.messages(manner)),
        r#"[{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}], "content": ""}]"#
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (protocol, body, told) in [
        (Protocol::OpenAi, "[", "the request is not JSON"),
        (Protocol::OpenAi, "[]", "must be an object, not a list"),
        (Protocol::OpenAi, "{}", "there are no `messages`"),
        (
            Protocol::OpenAi,
            r#"{"messages": []}"#,
            "no message to answer",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [1]}"#,
            "`messages[0]` must be an object",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [{}]}"#,
            "`messages[0]` has no `role`",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}"#,
            "only text can be sent",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user"}], "n": 2}"#,
            "one choice",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user"}], "stream": "yes"}"#,
            "`stream` must be a boolean",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user"}], "tool_choice": {"type": "custom"}}"#,
            "a function by its name",
        ),
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user"}], "response_format": {"type": "regex"}}"#,
            "`json_object` or `json_schema`",
        ),
        (
            Protocol::Responses,
            r#"{"input": "q", "previous_response_id": "x"}"#,
            "no response is kept",
        ),
        (
            Protocol::Responses,
            r#"{"input": "q", "tools": [{"type": "web_search"}]}"#,
            "functions with a name",
        ),
        (
            Protocol::Anthropic,
            r#"{"messages": [{"role": "user", "content": [{"type": "image"}]}]}"#,
            "type `image`",
        ),
        (
            Protocol::Anthropic,
            r#"{"messages": [{"role": "user", "content": "q"}], "tool_choice": {"type": "tool"}}"#,
            "a function by its name",
        ),
    ] {
        let refusal = read(protocol, body).unwrap_err();
        assert!(
            refusal.message.contains(told),
            "{body}: {}",
            refusal.message
        );
    }
}

#[test]
fn no_tools_are_offered_that_may_not_be_called() {
    let body = r#"{"messages": [{"role": "user", "content": "q"}], "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "none"}"#;
    assert_eq!(read(Protocol::OpenAi, body).unwrap().tools, []);
}

#[test]
fn every_protocol_says_which_calls_must_be_written_and_what_an_answer_must_fit() {
    let schema = json::parse(r#"{"type": "object"}"#).unwrap();
    let by_name = ToolChoice::Tool("f".to_owned());
    for (protocol, body, choice, format) in [
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user", "content": "q"}], "tool_choice": {"type": "function", "function": {"name": "f"}}, "response_format": {"type": "json_object"}}"#,
            by_name.clone(),
            Some(schema.clone()),
        ),
        (
            Protocol::Responses,
            r#"{"input": "q", "tool_choice": {"type": "function", "name": "f"}, "text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}}"#,
            by_name.clone(),
            Some(schema),
        ),
        (
            Protocol::Anthropic,
            r#"{"messages": [{"role": "user", "content": "q"}], "tool_choice": {"type": "tool", "name": "f"}}"#,
            by_name,
            None,
        ),
        (
            Protocol::Anthropic,
            r#"{"messages": [{"role": "user", "content": "q"}], "tool_choice": {"type": "any"}}"#,
            ToolChoice::Required,
            None,
        ),
    ] {
        let turn = read(protocol, body).unwrap();
        assert_eq!(
            (turn.choice, turn.response_format),
            (choice, format),
            "{body}"
        );
    }
}

#[test]
fn every_protocol_says_that_a_tool_is_strict() {
    for (protocol, body) in [
        (
            Protocol::OpenAi,
            r#"{"messages": [{"role": "user", "content": "q"}], "tools": [{"type": "function", "function": {"name": "f", "strict": true}}]}"#,
        ),
        (
            Protocol::Responses,
            r#"{"input": "q", "tools": [{"type": "function", "name": "f", "strict": true}]}"#,
        ),
        (
            Protocol::Anthropic,
            r#"{"messages": [{"role": "user", "content": "q"}], "tools": [{"name": "f", "input_schema": {}, "strict": true}]}"#,
        ),
    ] {
        let turn = read(protocol, body).unwrap();
        assert!(turn.strict, "{body}");
        assert!(!shown(&turn.tools).contains("strict"), "{body}");
        let loose = read(protocol, &body.replace("true", "false")).unwrap();
        assert!(!loose.strict, "{body}");
    }
}
