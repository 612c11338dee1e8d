/** A value as JSON has it. An integer that a number cannot hold exactly is a `bigint`; `NaN` and the infinities are numbers. */
export type Value = null | boolean | number | bigint | string | Value[] | { [key: string]: Value };

/** The message that a response was parsed to: `role`, `content`, `tool_calls`, ... as the response template has it. */
export type Message = { [key: string]: Value };

/** A response template, as an object or as text. Text keeps integers of any size and the order of keys that look like numbers. */
export type ResponseTemplate = object | string;

/** The tools by whose JSON schemas arguments are typed: a list as chat templates take it, or its JSON. */
export type Tools = readonly object[] | string;

/** The things that are known beside the response. */
export interface Given {
  /** The prefix that the parser is given before the response: the rendered conversation. Nothing by default. */
  prefix?: string;
  /** The tools that the model was given. */
  tools?: Tools;
}

/** Begins a region. For the implicit field it comes with the first text. */
export interface RegionOpen {
  type: "region_open";
  /** The field's name. */
  field: string;
}

/** More text of the open region. */
export interface RegionChunk {
  type: "region_chunk";
  /** The field's name. */
  field: string;
  /** The text as the model wrote it. */
  text: string;
  /** True if this is raw text of a region whose value only the close brings. */
  dirty: boolean;
}

/** Ends a region. */
export interface RegionClose {
  type: "region_close";
  /** The field's name. */
  field: string;
  /** The value that the region's text was parsed to. */
  value: Value;
}

/** Ends a region whose text does not parse. Only with `onError: "keep"`. */
export interface RegionError {
  type: "region_error";
  /** The field's name. */
  field: string;
  /** The error, with its place and the raw text. */
  error: Message;
}

/** A step of a parse. */
export type Event = RegionOpen | RegionChunk | RegionClose | RegionError;

/** Text of a response that no field took. */
export interface Unclaimed {
  /** The byte of the response at which it starts. */
  start: number;
  /** The byte at which it ends. */
  end: number;
  /** The text. */
  text: string;
}

/** What is thrown when something cannot be done. */
export interface ObverseError extends Error {
  name: "ObverseError";
  /** A stable name: `template`, `source`, `derive`, `usage`, or that of a parse error. */
  kind: string;
  /** For a document that is no response template: everything that is wrong with it. */
  findings?: unknown[];
  /** For a response that does not parse: the field. */
  field?: string;
  /** For a response that does not parse: the raw text of the region. */
  raw?: string;
  /** For a response that does not parse while it arrives: the events of this call before the error. */
  events?: Event[];
}

/** Loads the module; in Node there is nothing to do. `source` is where it is, or its bytes: without it, it is looked for beside the package. */
export function init(source?: string | URL | Request | Response | BufferSource | WebAssembly.Module): Promise<void>;

/** A response template, compiled once for many responses. */
export class Template {
  /** Compiles a response template, or that in a `tokenizer_config.json`. Throws an {@link ObverseError} with its findings. */
  constructor(template: ResponseTemplate);
  /** Parses a whole response. Throws an {@link ObverseError} when it does not parse. */
  parse(response: string, given?: Given): Message;
}

/** Parses a whole response. Throws an {@link ObverseError} when it does not parse. */
export function parse(response: string, template: Template | ResponseTemplate, given?: Given): Message;

/** A parser that reads a response as it arrives. However the response is cut, the message is the same. */
export class Parser {
  /** Begins a response. With `onError: "keep"` a region that does not parse is an event, and the others are still read. */
  constructor(template: Template | ResponseTemplate, options?: Given & { onError?: "throw" | "keep" });
  /** The events that the prefix brings. */
  readonly initialEvents: Event[];
  /** Reads a chunk of the response, as text or as bytes of UTF-8, and returns the events. A character may be cut. */
  feed(chunk: string | Uint8Array): Event[];
  /** Ends the response, and returns the last events and the message. */
  finish(): { message: Message; events: Event[] };
  /** The message parsed so far. */
  readonly message: Message;
  /** The text that no field took. */
  readonly unclaimed: Unclaimed[];
}
