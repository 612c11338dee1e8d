// The package as it is installed: run by Node in a project that has nothing else.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
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

test("what is of another type is told, and never read as text", () => {
  const others = [undefined, null, 5, NaN, true, 7n, () => 1, Symbol("x")];
  for (const other of others) {
    const calls = [
      () => parse("Hi", other),
      () => new Template(other),
      () => parse(other, TEMPLATE),
      () => alone.parse(other, TEMPLATE),
      () => new Parser(TEMPLATE).feed(other),
      () => derive(other),
      () => inspect(other),
      () => lint(other),
    ];
    if (other !== undefined) {
      calls.push(
        () => parse("Hi", TEMPLATE, { prefix: other }),
        () => new Parser(TEMPLATE, { prefix: other }),
        () => derive("{{ x }}", { name: other }),
        () => derive("{{ x }}", { for: other }),
        () => derive("{{ x }}", { for: [other] }),
        () => lint(TEMPLATE, { for: "vllm" }),
        () => lint(TEMPLATE, { chatTemplate: other }),
      );
    }
    for (const call of calls) {
      assert.throws(call, (error) => error instanceof TypeError && / must be .*, not /.test(error.message), `${typeof other}: ${call}`);
    }
  }
  for (const object of [new Date(), new Map(), [], {}]) {
    assert.throws(() => parse(object, TEMPLATE), TypeError);
    assert.throws(() => new Template(object), (error) => error.name === "ObverseError");
  }
  assert.equal(parse("Hi<end>", TEMPLATE).content, "Hi", "the module still works");
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

// The command, beside the binary where there is one.
const CHECKOUT = process.env.OBVERSE_CHECKOUT;
const commanded = (program, begun, args, input = "") => {
  // The binary goes by the checkout's obverse.toml there, which denies warnings.
  const cwd = args[0] === "lint" ? "." : CHECKOUT;
  const done = spawnSync(program, [...begun, ...args], { input, encoding: "utf8", cwd });
  assert.equal(done.error, undefined);
  return { status: done.status, out: done.stdout, told: done.stderr };
};
const command = (args, input) => commanded(process.execPath, [resolve("node_modules/obverse/cli.js")], args, input);
const binary = (args, input) => (process.env.OBVERSE_BINARY ? commanded(process.env.OBVERSE_BINARY, [], args, input) : null);

const QWEN = "derived/qwen3.json";
const cases = {
  "a derivation that is proved": ["derive", ["chat_templates/qwen3.jinja"]],
  "what is no chat template": ["derive", ["-"], "{% for %}"],
  "a response": ["parse", [QWEN], "<think>\nA greeting.\n</think>\n\nHello!<|im_end|>"],
  "integers, and what is no number": ["parse", [QWEN], '<tool_call>{"name": "a", "arguments": {"x": 12345678901234567890, "y": [1.5, NaN, {}]}}</tool_call>'],
  "a prefix": ["parse", ["--prefix", "<|im_start|>assistant\n<think>\n", QWEN], "Hm.</think>Yes<|im_end|>"],
  "a response that does not parse": ["parse", [QWEN], 'Hi<tool_call>{"</tool_call>'],
  "a file that is not there": ["parse", ["nowhere.json"]],
  "what is no response template": ["parse", ["-", "derived/qwen3.json"], "{"],
  "a response template that has findings": ["lint", ["-"], '{"start_anchor": "é:", "fields": {"content": {"close": "<end>"}}}'],
  "a response template that is none": ["lint", ["-"], '{"fields": {}}'],
  "nothing that is known": ["unknown", []],
};

for (const [name, [verb, args, input]] of Object.entries(cases)) {
  test(`the command does what the binary does: ${name}`, () => {
    const here = command([verb, ...args], input);
    const there = binary([verb, ...(verb === "lint" ? ["--format", "concise"] : []), ...args], input);
    if (there !== null) {
      assert.equal(here.status, there.status, here.told);
      // What does not parse is told with more around it by the binary.
      if (!name.endsWith("does not parse")) {
        assert.equal(here.out, there.out);
      }
    }
    assert.ok(here.status === 0 || here.out !== "" || here.told.startsWith("error"), here.told);
  });
}

test("the command tells its version, its help, and errors in full", () => {
  const { version } = JSON.parse(readFileSync("node_modules/obverse/package.json", "utf8"));
  assert.match(command(["--version"]).out, new RegExp(`^obverse ${version.replaceAll(".", "\\.")}( \\([0-9a-f]{12}\\))?\n$`));
  assert.match(command(["--help"]).out, /Usage: obverse derive/);
  assert.equal(command([]).status, 2);
  assert.equal(command(["derive", "--for", "nothing", "chat_templates/qwen3.jinja"]).status, 2);
  const broken = command(["parse", QWEN], 'Hi<tool_call>{"a"}</tool_call>');
  assert.equal(broken.status, 1);
  const told = JSON.parse(broken.out);
  assert.deepEqual([told.error.field, told.error.raw, told.message.content], ["tool_calls", '{"a"}', "Hi"]);
  // What a file says moves no cursor.
  const hostile = command(["parse", QWEN], '<tool_call>{"\x1b[2J</tool_call>');
  assert.ok(!(hostile.told + hostile.out).includes("\x1b"), hostile.told);
});
