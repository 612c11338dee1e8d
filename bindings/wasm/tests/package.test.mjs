// The package as it is installed: run by Node in a project that has nothing else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Parser, Template, derive, init, inspect, lint, parse } from "obverse";
import * as alone from "obverse/parser";

await init();

const TEMPLATE = {
  start_anchor: "<assistant>",
  fields: {
    thinking: { open: "<think>", close: "</think>" },
    tool_calls: { open: "<call>", close: "</call>", content: "json", repeats: true },
    content: { close: "<end>" },
  },
};
const RESPONSE = '<think>é😀</think>Hi<call>{"n": 12345678901234567890, "x": [1.5, null], "__proto__": 1}</call><end>';

const chat = (name) => readFileSync(`${process.env.OBVERSE_CHECKOUT}/chat_templates/${name}.jinja`, "utf8");

test("a response is parsed to a message", () => {
  const message = parse(RESPONSE, TEMPLATE);
  assert.equal(message.thinking, "é😀");
  assert.equal(message.content, "Hi");
  const [call] = message.tool_calls;
  assert.equal(call.n, 12345678901234567890n);
  assert.deepEqual(call.x, [1.5, null]);
  assert.deepEqual(Object.keys(call), ["n", "x", "__proto__"], "a key like any other");
  assert.equal(Object.getPrototypeOf(call), Object.prototype);
});

test("the parser alone parses the same", () => {
  assert.deepEqual(alone.parse(RESPONSE, TEMPLATE), parse(RESPONSE, TEMPLATE));
  assert.equal(alone.derive, undefined);
});

test("however a response is cut, the message is the same", () => {
  const template = new Template(TEMPLATE);
  const whole = template.parse(RESPONSE);
  const bytes = new TextEncoder().encode(RESPONSE);
  for (let size = 1; size < 9; size += 1) {
    for (const all of [RESPONSE, bytes]) {
      const parser = new Parser(template);
      const events = [...parser.initialEvents];
      for (let at = 0; at < all.length; at += size) {
        events.push(...parser.feed(all.slice(at, at + size)));
      }
      const last = parser.finish();
      events.push(...last.events);
      assert.deepEqual(last.message, whole);
      const closed = events.filter((event) => event.type === "region_close").map((event) => event.field);
      assert.deepEqual(closed, ["thinking", "content", "tool_calls"]);
      const text = events.filter((event) => event.type === "region_chunk" && event.field === "thinking");
      assert.equal(text.map((event) => event.text).join(""), "é😀");
    }
  }
});

test("tools type arguments, and a prefix counts", () => {
  const template = { start_anchor: "A:", fields: { content: {}, thinking: { open: "<t>", close: "</t>" } } };
  assert.equal(parse("x</t>y", template, { prefix: "A:<t>" }).thinking, "x");
});

test("what cannot be done is an error with a kind", () => {
  assert.throws(
    () => new Template({ fields: {} }),
    (error) => error.name === "ObverseError" && error.kind === "template" && error.findings.length > 0,
  );
  assert.throws(
    () => parse("<call>{</call>", TEMPLATE),
    (error) => error.field === "tool_calls" && error.raw === "{",
  );
  assert.throws(() => derive("{% for %}"), (error) => error.kind === "source");
  assert.throws(() => derive("{{ raise_exception('no') }}"), (error) => error.kind === "derive");
  assert.throws(() => new Parser(TEMPLATE, { onError: "no" }), TypeError);
  const parser = new Parser(TEMPLATE, { onError: "keep" });
  const events = parser.feed("<call>{</call>Hi");
  assert.ok(events.some((event) => event.type === "region_error" && event.error.raw === "{"));
  assert.equal(parser.finish().message.content, "Hi");
});

test("a response template is derived and proved", () => {
  const begun = performance.now();
  const { responseTemplate, report, text } = derive(chat("qwen3"), { name: "qwen3" });
  console.log(`derived in ${Math.round(performance.now() - begun)} ms`);
  assert.equal(report.verdict, "proved");
  assert.deepEqual(JSON.parse(text), responseTemplate);
  const stored = JSON.parse(readFileSync(`${process.env.OBVERSE_CHECKOUT}/derived/qwen3.json`, "utf8"));
  assert.deepEqual(responseTemplate, stored, "as the binary derives it");
  const message = parse("<think>\nA greeting.\n</think>\n\nHello!<|im_end|>", responseTemplate);
  assert.equal(message.content, "Hello!");
});

test("a configuration is derived from", () => {
  const config = { chat_template: chat("hermes"), eos_token: "<|im_end|>" };
  assert.equal(derive(config).report.verified, true);
});

test("findings have places, and support is told", () => {
  const text = '{"start_anchor": "A:", "fields": {"content": {"close": "<end>"}}}';
  const [found] = lint(text);
  assert.ok(found.place.span.end > found.place.span.start && found.place.path.startsWith("$"));
  assert.ok(inspect(chat("qwen3")).templates.length === 1);
});

test("what is hostile ends at a limit", () => {
  const deep = "[".repeat(100000);
  assert.throws(() => parse(`<call>${deep}</call>`, TEMPLATE), (error) => error.name === "ObverseError");
  const nested = `${"{% if true %}".repeat(5000)}x`;
  assert.throws(() => derive(nested), (error) => error.name === "ObverseError");
  const brackets = `{{ ${"(".repeat(20000)} }}`;
  assert.throws(() => derive(brackets), (error) => error.name === "ObverseError");
  const recursive = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}";
  assert.throws(() => derive(recursive), (error) => error.name === "ObverseError");
  assert.equal(parse("Hi<end>", TEMPLATE).content, "Hi", "the module still works");
});
