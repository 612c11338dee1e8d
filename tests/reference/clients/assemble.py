"""Has the official SDKs read streams from a local server, and says what they make of them.

Reads lines {"protocol", "frames": [text, ...]} and writes for each {"content", "reasoning", "calls": [{"id", "name",
"arguments"}], "ending"}; the arguments of Anthropic's calls are the value that the SDK has parsed.
"""

import http.server
import json
import sys
import threading

import anthropic
import openai

frames = []


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for frame in frames:
            data = frame.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args):
        pass


class Quiet(http.server.ThreadingHTTPServer):
    # A client may leave before the last empty chunk: a stream ends with its last event.
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


server = Quiet(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
openai_client = openai.OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0)
anthropic_client = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
messages = [{"role": "user", "content": "?"}]


def chat():
    with openai_client.chat.completions.stream(model="m", messages=messages) as stream:
        for _ in stream:
            pass
        choice = stream.get_final_completion().choices[0]
    message = choice.message
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in message.tool_calls or []
    ]
    reasoning = (message.model_extra or {}).get("reasoning_content")
    return message.content, reasoning, calls, choice.finish_reason


def responses():
    # What the deltas bring must be what the items have at the end.
    texts, arguments = {}, {}
    with openai_client.responses.stream(model="m", input="?") as stream:
        for event in stream:
            if event.type in ("response.output_text.delta", "response.reasoning_text.delta"):
                texts[event.item_id] = texts.get(event.item_id, "") + event.delta
            if event.type == "response.function_call_arguments.delta":
                arguments[event.item_id] = event.snapshot
        response = stream.get_final_response()
    content, reasoning, calls = [], [], []
    for item in response.output:
        if item.type == "function_call":
            assert arguments.get(item.id, "") == item.arguments, (arguments, item)
            calls.append({"id": item.call_id, "name": item.name, "arguments": item.arguments})
            continue
        text = "".join(part.text for part in item.content)
        assert texts[item.id] == text, (texts, item)
        (content if item.type == "message" else reasoning).append(text)
    return "".join(content), "".join(reasoning), calls, response.status


def anthropic_messages():
    with anthropic_client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
        for _ in stream:
            pass
        message = stream.get_final_message()
    content, reasoning, calls = [], [], []
    for block in message.content:
        if block.type == "text":
            content.append(block.text)
        elif block.type == "thinking":
            reasoning.append(block.thinking)
        else:
            calls.append({"id": block.id, "name": block.name, "arguments": block.input})
    return "".join(content), "".join(reasoning), calls, message.stop_reason


read = {"openai": chat, "responses": responses, "anthropic": anthropic_messages}
for line in sys.stdin:
    question = json.loads(line)
    frames[:] = question["frames"]
    content, reasoning, calls, ending = read[question["protocol"]]()
    answer = {"content": content or "", "reasoning": reasoning or "", "calls": calls, "ending": ending}
    print(json.dumps(answer, ensure_ascii=False), flush=True)
