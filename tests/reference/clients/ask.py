"""Has the official SDKs ask a running server, and says what they make of its replies.

Reads lines {"protocol", "url", "stream", "question", "tools"?} and writes for each what assemble.py writes, with the reply's "id" and "usage", or
{"error": {"status", "message"}}.
"""

import json
import sys

import anthropic
import openai


def usage_of(usage, names):
    return [getattr(usage, name, None) for name in names]


def chat(url, question, tools, stream):
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    asked = {"model": "m", "messages": [{"role": "user", "content": question}]}
    # As they are: the helper for streams takes `strict` ones alone.
    extra = {"tools": tools} if tools else {}
    if stream:
        options = {"include_usage": True}
        with client.chat.completions.stream(**asked, extra_body=extra, stream_options=options) as events:
            for _ in events:
                pass
            reply = events.get_final_completion()
    else:
        reply = client.chat.completions.create(**asked, extra_body=extra)
    message = reply.choices[0].message
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in message.tool_calls or []
    ]
    reasoning = (message.model_extra or {}).get("reasoning_content")
    usage = usage_of(reply.usage, ["prompt_tokens", "completion_tokens"])
    return message.content, reasoning, calls, reply.choices[0].finish_reason, reply.id, usage


def responses(url, question, tools, stream):
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    own = [{"type": "function", **tool["function"]} for tool in tools or []]
    extra = {"tools": own} if own else {}
    if stream:
        with client.responses.stream(model="m", input=question, extra_body=extra) as events:
            for _ in events:
                pass
            reply = events.get_final_response()
    else:
        reply = client.responses.create(model="m", input=question, extra_body=extra)
    content, reasoning, calls = [], [], []
    for item in reply.output:
        if item.type == "function_call":
            calls.append({"id": item.call_id, "name": item.name, "arguments": item.arguments})
        else:
            text = "".join(part.text for part in item.content)
            (content if item.type == "message" else reasoning).append(text)
    usage = usage_of(reply.usage, ["input_tokens", "output_tokens"])
    return "".join(content), "".join(reasoning), calls, reply.status, reply.id, usage


def messages(url, question, tools, stream):
    client = anthropic.Anthropic(api_key="none", base_url=url.removesuffix("/v1"), max_retries=0)
    asked = {"model": "m", "max_tokens": 999, "messages": [{"role": "user", "content": question}]}
    if tools:
        asked["tools"] = [
            {
                "name": tool["function"]["name"],
                "description": tool["function"].get("description", ""),
                "input_schema": tool["function"].get("parameters") or {"type": "object"},
            }
            for tool in tools
        ]
    if stream:
        with client.messages.stream(**asked) as events:
            for _ in events:
                pass
            reply = events.get_final_message()
    else:
        reply = client.messages.create(**asked)
    content, reasoning, calls = [], [], []
    for block in reply.content:
        if block.type == "text":
            content.append(block.text)
        elif block.type == "thinking":
            reasoning.append(block.thinking)
        else:
            calls.append({"id": block.id, "name": block.name, "arguments": block.input})
    usage = usage_of(reply.usage, ["input_tokens", "output_tokens"])
    return "".join(content), "".join(reasoning), calls, reply.stop_reason, reply.id, usage


ask = {"openai": chat, "responses": responses, "anthropic": messages}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        content, reasoning, calls, ending, number, usage = ask[asked["protocol"]](
            asked["url"], asked["question"], asked.get("tools"), asked["stream"]
        )
        answer = {"content": content or "", "reasoning": reasoning or "", "calls": calls, "ending": ending}
        answer |= {"id": number, "usage": usage}
    except (openai.APIError, anthropic.APIError) as error:
        answer = {"error": {"status": getattr(error, "status_code", None), "message": str(error)}}
    print(json.dumps(answer, ensure_ascii=False), flush=True)
