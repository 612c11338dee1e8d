//! OpenAI's Chat Completions.

use super::{Request, Turn, parts, take_strict};
use crate::serve::refusal::Refusal;
use crate::value::{Integer, Value};

pub(super) fn read(request: &mut Request) -> Result<Turn, Refusal> {
    let Some(messages) = request.list("messages")? else {
        return Err(Refusal::request("there are no `messages`").about("messages"));
    };
    let mut turn = Turn {
        tools: request.list("tools")?.unwrap_or_default(),
        ..Turn::default()
    };
    for tool in &mut turn.tools {
        let Value::Object(tool) = tool else {
            continue;
        };
        turn.strict |= match tool.get_mut("function") {
            Some(Value::Object(function)) => take_strict(function),
            _ => take_strict(tool),
        };
    }
    for (index, message) in messages.into_iter().enumerate() {
        let kind = message.json_kind();
        let Value::Object(mut message) = message else {
            let what = format!("`messages[{index}]`");
            let error = Refusal::request(format!("{what} must be an object, not {kind}"));
            return Err(error.about("messages"));
        };
        message.retain(|_, value| *value != Value::Null);
        let role = message.get("role").and_then(Value::as_str);
        match role {
            None => {
                let message = format!("`messages[{index}]` has no `role`");
                return Err(Refusal::request(message).about("messages"));
            }
            // OpenAI's newer name for it, which no chat template knows.
            Some("developer") => {
                message.insert("role", Value::from("system"));
            }
            Some(_) => {}
        }
        if let Some(content) = message.get("content") {
            let text = parts::text(content)?;
            message.insert("content", Value::from(text));
        }
        turn.messages.push(Value::Object(message));
    }
    let one = |value: &Value| *value == Value::Int(Integer::from(1));
    let off = |value: &Value| !value.is_truthy();
    request.only("n", one, "one choice is written for each request")?;
    request.only("best_of", one, "one choice is written for each request")?;
    request.only("logprobs", off, "probabilities are not told")?;
    request.only("top_logprobs", off, "probabilities are not told")?;
    request.only("functions", off, "functions are given as `tools`")?;
    request.format("response_format", None, &mut turn)?;
    request.choose_tools(&mut turn)?;
    turn.one_call |= request.boolean("parallel_tool_calls")? == Some(false);
    if let Some(effort) = request.take("reasoning_effort") {
        turn.kwargs.insert("reasoning_effort", effort);
    }
    if let Some(options) = request.object("stream_options")? {
        turn.include_usage = options.get("include_usage").is_some_and(Value::is_truthy);
    }
    request.most(&["max_tokens", "max_completion_tokens"], &mut turn);
    Ok(turn)
}
