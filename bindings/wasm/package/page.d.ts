export { init } from "./parser.js";

/** Opens a chat template, a configuration or a response template, as the playground shows it: for its scripts, which change with it. */
export function open(name: string, text: string): { [key: string]: unknown };

/** Looks at a response template that is being edited; `report` is that of its derivation. */
export function template(text: string, report?: object): { [key: string]: unknown };

/** Records a parse: all its steps at once. */
export function replay(
  template: string,
  response: string,
  given?: {
    /** The prefix before the response. */
    prefix?: string;
    /** The list of tools, as JSON. */
    tools?: string;
    /**
     * The way in which the response is cut: `whole`, `words`, `random:SEED`, `3` (characters), `3b` (bytes); with `recorded` the response is
     * a JSON list of its chunks, such as the tokens of a model.
     */
    chunks?: string;
  },
): { [key: string]: unknown };
