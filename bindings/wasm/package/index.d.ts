import type { ResponseTemplate } from "./parser.js";

export * from "./parser.js";

/** A chat template in Jinja, or a `tokenizer_config.json` with one or several, as text or as an object. */
export type ChatTemplate = string | object;

/** An engine that a response template is to run in beside transformers. */
export type Engine = "transformers" | "vllm" | "sglang";

/** A finding of a derivation. */
export interface ReportedFinding {
  /** The weight of it. */
  severity: "info" | "warning" | "error";
  /** A stable name. */
  code: string;
  /** The finding, in sentences. */
  text: string;
  /** Further keys, as `schemas/derivation.json` has them. */
  [key: string]: unknown;
}

/** The report of a derivation, as `obverse derive --report` writes it; `schemas/derivation.json` describes all of it. */
export interface Report {
  /** The name of the chat template. */
  source: string;
  /** True if it is proved: messages came back from their renders. */
  verified: boolean;
  /** The verdict in words. */
  verdict: "proved" | "proved_in_part" | "inexpressible" | "not_proved";
  /** The numbers of messages that were rendered and parsed. */
  rounds: { passed: number; failed: number; [key: string]: number };
  /** The things that are worth knowing. */
  findings: ReportedFinding[];
  /** Further keys, as the schema has them. */
  [key: string]: unknown;
}

/** A response template and what is known of it. */
export interface Derivation {
  /** The response template. */
  responseTemplate: { [key: string]: unknown };
  /** The response template as text, as it is stored. */
  text: string;
  /** The report. */
  report: Report;
}

/** Derives a response template from a chat template and proves it by inversion. One that is not proved is no error: the report says so. */
export function derive(
  chatTemplate: ChatTemplate,
  options?: {
    /** A name for reports. */
    name?: string;
    /** The engines whose features to keep to. */
    for?: Engine[];
    /** True to verify at length. */
    thorough?: boolean;
  },
): Derivation;

/** What a chat template supports. */
export interface Inspection {
  /** An account of each named chat template. */
  templates: { [key: string]: unknown }[];
  /** Further keys. */
  [key: string]: unknown;
}

/** Tells what a chat template supports: roles, tools, content parts, keyword arguments. */
export function inspect(chatTemplate: ChatTemplate, options?: { /** A name for the account. */ name?: string }): Inspection;

/** A finding about a response template. */
export interface Diagnostic {
  /** A stable name, which `obverse explain` explains. */
  code: string;
  /** The weight of it. */
  severity: "info" | "warning" | "error";
  /** A sentence: what is wrong. */
  message: string;
  /** The place: a JSON path, and byte offsets into the text. */
  place: { path: string | null; span: { start: number; end: number } | null };
  /** Further places that explain it. */
  labels: { span: { start: number; end: number }; text: string }[];
  /** Advice on how to mend it. */
  hint: string | null;
  /** A safe change that mends it. */
  fix?: { message: string; edits: { span: { start: number; end: number }; text: string }[] };
}

/** Finds what will go wrong with a response template. Give text to have places that fit it. */
export function lint(
  template: ResponseTemplate,
  options?: {
    /** The chat template that belongs to it, for the rules that need one. */
    chatTemplate?: ChatTemplate;
    /** The engines that it is to run in. */
    for?: Engine[];
  },
): Diagnostic[];
