// The functions of the package around those of a module. Arguments are turned into what the module takes, and nothing is decided here.

/** Text of JSON for what may be text already. */
const json = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** The tools as text; none is an empty text. */
const listed = (tools) => (tools === undefined || tools === null ? "" : json(tools));

const isHigh = (unit) => unit >= 0xd800 && unit <= 0xdbff;

/** What is about parsing. */
export function parsing(glue) {
  const compiled = (template) => (template instanceof Template ? template : new Template(template));

  class Template {
    #inner;

    constructor(template) {
      this.#inner = new glue.Template(json(template));
    }

    parse(response, { prefix = "", tools } = {}) {
      return this.#inner.parse(response, prefix, listed(tools));
    }

    /** For `Parser` alone. */
    _parser(prefix, tools, keeps) {
      return this.#inner.parser(prefix, listed(tools), keeps);
    }
  }

  class Parser {
    #inner;
    #decoder = null;
    // The first half of a character whose second half has not arrived.
    #half = "";

    constructor(template, { prefix = "", tools, onError = "throw" } = {}) {
      if (onError !== "throw" && onError !== "keep") {
        throw new TypeError(`onError must be "throw" or "keep", not ${JSON.stringify(onError)}`);
      }
      this.#inner = compiled(template)._parser(prefix, tools, onError === "keep");
      this.initialEvents = this.#inner.initial_events();
    }

    feed(chunk) {
      return this.#told((events) => this.#inner.feed(this.#whole(chunk), events));
    }

    finish() {
      const events = this.#told((list) => {
        const rest = this.#half + (this.#decoder?.decode() ?? "");
        this.#half = "";
        this.#decoder = null;
        if (rest !== "") {
          this.#inner.feed(rest, list);
        }
        this.#inner.finalize(list);
      });
      return { message: this.message, events };
    }

    get message() {
      return this.#inner.message();
    }

    get unclaimed() {
      return this.#inner.unclaimed();
    }

    #told(work) {
      const events = [];
      try {
        work(events);
      } catch (error) {
        // What came before the error is not lost with it.
        if (error instanceof Error) {
          error.events = events;
        }
        throw error;
      }
      return events;
    }

    /** The whole characters that there are now. */
    #whole(chunk) {
      let text = chunk;
      if (typeof chunk !== "string") {
        this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
        text = this.#decoder.decode(chunk, { stream: true });
      }
      text = this.#half + text;
      this.#half = "";
      if (text !== "" && isHigh(text.charCodeAt(text.length - 1))) {
        this.#half = text.slice(-1);
        text = text.slice(0, -1);
      }
      return text;
    }
  }

  const parse = (response, template, options) => compiled(template).parse(response, options);
  return { Template, Parser, parse };
}

/** What is about chat templates and response templates. */
export function working(glue) {
  const derive = (chatTemplate, { name = "chat_template", for: engines = [], thorough = false } = {}) => {
    const [text, report] = glue.derive(name, json(chatTemplate), engines, thorough);
    return { text, responseTemplate: JSON.parse(text), report };
  };
  const inspect = (chatTemplate, { name = "chat_template" } = {}) => glue.inspect(name, json(chatTemplate));
  const lint = (template, { chatTemplate, for: engines = [] } = {}) =>
    glue.lint(json(template), chatTemplate === undefined ? undefined : json(chatTemplate), engines);
  return { derive, inspect, lint };
}

/** What the playground asks for. */
export function paging(glue) {
  const open = (name, text) => JSON.parse(glue.page_open(name, text));
  const template = (text, report) => JSON.parse(glue.page_template(text, report ? JSON.stringify(report) : ""));
  const replay = (text, response, { prefix = "", tools = "", chunks = "words" } = {}) =>
    JSON.parse(glue.page_replay(text, response, prefix, tools, chunks));
  return { open, template, replay };
}
