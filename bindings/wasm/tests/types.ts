// Types alone: what is written here must compile, and what is expected to be an error must be one.
import { Parser, Template, derive, init, inspect, lint, parse } from "obverse";
import type { Derivation, Event, Message, ObverseError } from "obverse";
import * as alone from "obverse/parser";
import { open } from "obverse/page";

await init(new Uint8Array());
const derived: Derivation = derive("{{ messages }}", { for: ["vllm"], thorough: true });
const template = new Template(derived.responseTemplate);
const message: Message = parse("x", template, { prefix: "", tools: [{ type: "function" }] });
const parser = new Parser(derived.text, { onError: "keep" });
const events: Event[] = parser.feed("x");
for (const event of events) {
  if (event.type === "region_chunk") {
    const text: string = event.text;
    void text;
  }
}
const kind = (error: ObverseError): string => error.kind;
const place = lint(derived.text, { chatTemplate: {} })[0]?.place.path;
// @ts-expect-error an engine that there is not
derive("", { for: ["nothing"] });
// @ts-expect-error a response is a text
parse(1, template);
void [message, kind, place, inspect({}), alone.parse, open];
