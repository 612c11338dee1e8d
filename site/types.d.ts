// What a page is told, as the room `page` of the library has it. Offsets count UTF-16 code units.

export type Span = [number, number];

export interface Entry { kind: string; field?: number; region?: number; span: Span; first: number; last: number }
export interface Watch { field: number; side: "open" | "close"; span: Span; matched: boolean; reason: string }
export interface Member { key: string; json: string }
export interface Change { text?: [string, string]; append?: [string, string]; json?: [string, string]; push?: [string, string] }
export interface Region { field: number; open?: Span; text: Span; close?: Span; captures?: string; value?: string; error?: string; replaces?: number; change?: Change }

export interface Steps {
  arrived: number[];
  held: number[];
  told: number[];
  entries: number[];
  closed: number[];
  watches: number[];
  open: number[];
  states: [number, string][];
}

export interface Replay {
  text: string;
  prefix: number;
  fields: { name: string; open?: string; close?: string }[];
  steps: Steps;
  entries: Entry[];
  regions: Region[];
  watches: Watch[];
  defaults: Member[];
  message: Member[];
  failure?: string;
}

export interface Finding { severity: string; code: string; message: string; hint?: string; path?: string; span?: Span }
export interface Delimiter { field?: string; side: string; text: string; engine: string; span?: Span; evidence: number[] }
export interface TemplateView { text: string; valid: boolean; findings: Finding[]; delimiters: Delimiter[] }

export interface Place { line?: number; column?: number; input?: (string | number)[]; text: string }
export interface Evidence {
  question: string;
  marker: string;
  reading: string;
  left: { variant: string; text: string };
  right: { variant: string; text: string };
  places?: Place[];
}

export interface Report {
  source: string;
  verified: boolean;
  verdict?: string;
  rounds?: { passed: number; failed: number };
  findings?: { severity: string; code: string; text: string }[];
  evidence?: Evidence[];
}

export interface Sample { name: string; response: string; prefix: string; tools: string; expected?: string; replay?: Replay }
export interface Page { title: string; template: TemplateView; report?: Report; samples: Sample[]; left_out: number }
