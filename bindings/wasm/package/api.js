// The functions of the package around those of a module. Arguments are turned into what the module takes, and nothing is decided here but whether
// they are of the right type: the module would read something else as text at whatever place it happens to name.

/** The type of a value, in words. */
const typed = (value) => (value === null ? "null" : typeof value);

const wrong = (name, wanted, value) => new TypeError(`${name} must be ${wanted}, not ${typed(value)}`);

/** Text that has to be text. */
function text(name, value) {
  if (typeof value !== "string") {
    throw wrong(name, "a string", value);
  }
  return value;
}

/** Text of JSON for what may be text already. */
function json(name, value) {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) {
    throw wrong(name, "an object or a string", value);
  }
  return typeof value === "string" ? value : text(name, JSON.stringify(value));
}

/** The tools as text; none is an empty text. */
const listed = (tools) => (tools === undefined || tools === null ? "" : json("tools", tools));

/** The names of engines. */
function named(engines) {
  if (!Array.isArray(engines)) {
    throw wrong("for", "a list of engines", engines);
  }
  return engines.map((engine) => text("an engine", engine));
}

const isHigh = (unit) => unit >= 0xd800 && unit <= 0xdbff;

/** What is about parsing. */
export function parsing(glue) {
  const compiled = (template) => (template instanceof Template ? template : new Template(template));

  class Template {
    #inner;

    constructor(template) {
      this.#inner = new glue.Template(json("the response template", template));
    }

    parse(response, { prefix = "", tools } = {}) {
      return this.#inner.parse(text("the response", response), text("prefix", prefix), listed(tools));
    }

    /** For `Parser` alone. */
    _parser(prefix, tools, keeps) {
      return this.#inner.parser(text("prefix", prefix), listed(tools), keeps);
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
      let arrived = chunk;
      if (typeof chunk !== "string") {
        if (typeof chunk !== "object" || chunk === null) {
          throw wrong("a chunk", "a string or bytes", chunk);
        }
        this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
        arrived = this.#decoder.decode(chunk, { stream: true });
      }
      arrived = this.#half + arrived;
      this.#half = "";
      if (arrived !== "" && isHigh(arrived.charCodeAt(arrived.length - 1))) {
        this.#half = arrived.slice(-1);
        arrived = arrived.slice(0, -1);
      }
      return arrived;
    }
  }

  const parse = (response, template, options) => compiled(template).parse(response, options);
  return { Template, Parser, parse };
}

/** What is about chat templates and response templates. */
export function working(glue) {
  const source = (chatTemplate) => json("the chat template", chatTemplate);
  const derive = (chatTemplate, { name = "chat_template", for: engines = [], thorough = false } = {}) => {
    const [document, report] = glue.derive(text("name", name), source(chatTemplate), named(engines), Boolean(thorough));
    return { text: document, responseTemplate: JSON.parse(document), report };
  };
  const inspect = (chatTemplate, { name = "chat_template" } = {}) => glue.inspect(text("name", name), source(chatTemplate));
  const lint = (template, { chatTemplate, for: engines = [] } = {}) =>
    glue.lint(json("the response template", template), chatTemplate === undefined ? undefined : source(chatTemplate), named(engines));
  return { derive, inspect, lint };
}

/** What the playground asks for. */
export function paging(glue) {
  const open = (name, given) => JSON.parse(glue.page_open(name, given));
  const template = (given, report) => JSON.parse(glue.page_template(given, report ? JSON.stringify(report) : ""));
  const replay = (given, response, { prefix = "", tools = "", chunks = "words" } = {}) =>
    JSON.parse(glue.page_replay(given, response, prefix, tools, chunks));
  return { open, template, replay };
}
