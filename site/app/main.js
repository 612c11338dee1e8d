// The playground: what is put in, and what is shown of it.

import { el, fill, section } from "../view/dom.js";
import { delimiters, verdict } from "../view/evidence.js";
import { findings } from "../view/findings.js";
import { stepper } from "../view/stepper.js";
import { read, write } from "./permalink.js";
import { Outdated, Work } from "./work.js";

/** @typedef {import("../types.js").Page} Page */

/** So long after the last key something is looked at, in milliseconds. */
const PAUSE = 150;

/** A file that is larger is none of those that are meant. */
const MAX_FILE = 32 << 20;

/** How a response is cut where nobody says so. */
const WORDS = "words";

const work = new Work();
/** @type {Page | null} */
let page = null;
let moved = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

const area = (/** @type {string} */ label, /** @type {number} */ rows) =>
  el("textarea", { "aria-label": label, rows, spellcheck: "false", autocomplete: "off", autocapitalize: "off" });
const source = area("Chat template, tokenizer_config.json or response template", 8);
const template = area("Response template", 16);
const response = area("Response of a model", 5);
const prefix = area("Prefix: the prompt before the response", 2);
const tools = area("Tools, as a JSON list", 2);
const examples = el("select", { "aria-label": "Example" }, el("option", { value: "" }, "an example…"));
const samples = el("select", { "aria-label": "Response by which it was proved" });
const chunks = el(
  "select",
  { "aria-label": "How the response is cut" },
  ...[[WORDS, "words"], ["1", "characters"], ["4", "4 characters"], ["1b", "bytes"], ["whole", "whole"], ["recorded", "a JSON list of tokens"]].map(([value, name]) => el("option", { value }, name)),
);
const file = el("input", { type: "file", hidden: true, "aria-label": "File", accept: ".jinja,.json,.txt" });
const trouble = el("div", { class: "trouble", role: "alert", id: "trouble" });
const status = el("p", { class: "dim", role: "status", id: "status", "aria-live": "polite" });
const derived = el("div", {});
const found = el("div", {});
const link = el("input", { type: "text", readonly: true, hidden: true, "aria-label": "Permalink" });
const view = stepper(() => {
  clearTimeout(moved);
  moved = setTimeout(keep, PAUSE * 2);
});

/** Shows what is wrong, or that nothing is. */
function told(/** @type {unknown} */ error) {
  if (error instanceof Outdated) {
    return;
  }
  fill(trouble, error === null ? "" : error instanceof Error ? error.message : String(error));
  if (error !== null) {
    fill(status, "");
  }
}

/** Calls it a while after the last call. */
function later(/** @type {() => void} */ act) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, PAUSE);
  };
}

const goTo = (/** @type {[number, number]} */ [start, end]) => {
  template.focus();
  template.setSelectionRange(start, end);
};

async function openSource() {
  if (source.value.trim() === "") {
    return;
  }
  fill(status, "Deriving…");
  const begun = performance.now();
  try {
    page = /** @type {Page} */ (await work.ask("open", { name: "chat template", text: source.value }));
    told(null);
    fill(status, page.report ? `Derived in ${Math.round(performance.now() - begun)} ms.` : "A response template: nothing was derived.");
    fill(derived, verdict(page.report));
    fill(samples, el("option", { value: "" }, page.left_out > 0 ? `a response… (${page.left_out} more are alike)` : "a response…"), ...page.samples.map((sample, index) => el("option", { value: index }, sample.name)));
    template.value = page.template.text;
    if (!isRestoring && response.value === "" && page.samples.length > 0) {
      // One with much in it shows most.
      const keys = page.samples.map((sample) => sample.name.split(",").length);
      take(keys.indexOf(Math.max(...keys)));
    }
    showTemplate(page.template);
    await parse();
  } catch (error) {
    told(error);
  }
  keep();
}

function showTemplate(/** @type {Page["template"]} */ looked) {
  fill(found, findings(looked, goTo), delimiters(looked, page?.report, goTo));
}

async function lookAtTemplate() {
  try {
    const looked = await work.ask("template", { text: template.value, report: page?.report });
    told(null);
    showTemplate(looked);
    if (looked.valid) {
      await parse(view.step);
    } else {
      fill(status, "The response template is not valid: what is shown is of the last valid one.");
    }
  } catch (error) {
    told(error);
  }
  keep();
}

async function parse(/** @type {number | undefined} */ at = undefined) {
  if (template.value.trim() === "") {
    return;
  }
  try {
    const replay = await work.ask("replay", { template: template.value, response: response.value, prefix: prefix.value, tools: tools.value, chunks: chunks.value });
    const sample = page?.samples.find((one) => one.response === response.value && one.prefix === prefix.value);
    told(null);
    view.show(replay, at, sample?.expected);
  } catch (error) {
    told(error);
  }
}

function take(/** @type {number} */ index) {
  const sample = page?.samples[index];
  if (sample) {
    response.value = sample.response;
    prefix.value = sample.prefix;
    tools.value = sample.tools;
  }
}

let isRestoring = false;

/** Keeps everything in the address. */
async function keep() {
  if (isRestoring) {
    return;
  }
  const kept = { source: source.value, template: template.value, response: response.value, prefix: prefix.value, tools: tools.value, chunks: chunks.value, step: view.step };
  const fragment = await write(kept);
  history.replaceState(null, "", fragment);
  link.value = location.href;
}

async function restore() {
  try {
    const kept = await read(location.hash);
    if (!kept) {
      return false;
    }
    isRestoring = true;
    page = null;
    source.value = kept.source ?? "";
    response.value = kept.response ?? "";
    prefix.value = kept.prefix ?? "";
    tools.value = kept.tools ?? "";
    chunks.value = kept.chunks ?? WORDS;
    // One that is none of the list leaves none chosen.
    chunks.value ||= WORDS;
    await openSource();
    if (kept.template !== undefined && kept.template !== "") {
      template.value = kept.template;
      await lookAtTemplate();
    }
    await parse(kept.step);
  } catch {
    told(new Error("The permalink is broken: perhaps it was cut off."));
  } finally {
    isRestoring = false;
  }
  return true;
}

async function copy() {
  await keep();
  link.hidden = false;
  link.select();
  try {
    await navigator.clipboard.writeText(location.href);
    fill(status, "The permalink was copied.");
  } catch {
    fill(status, "Copy the permalink from the field.");
  }
}

async function takeFile(/** @type {File | undefined} */ given) {
  if (!given) {
    return;
  }
  if (given.size > MAX_FILE) {
    told(new Error(`${given.name} is larger than ${MAX_FILE >> 20} MB.`));
    return;
  }
  fresh(await given.text());
}

/** Begins with another source, and forgets what belonged to the last one. */
function fresh(/** @type {string} */ text) {
  source.value = text;
  response.value = "";
  prefix.value = "";
  tools.value = "";
  openSource();
}

function layOut() {
  const main = document.getElementById("playground");
  if (!main) {
    return;
  }
  const labelled = (/** @type {string} */ name, /** @type {HTMLElement} */ input) => el("label", {}, name, input);
  fill(
    main,
    el("header", {}, el("h1", {}, "Obverse"), el("p", {}, "Response templates from chat templates, proved and shown at work. Nothing leaves this page.")),
    el(
      "div",
      { class: "bar" },
      examples,
      el("button", { type: "button", onclick: () => file.click() }, "Open a file"),
      file,
      el("button", { type: "button", onclick: copy }, "Permalink"),
      link,
    ),
    trouble,
    status,
    el(
      "div",
      { class: "columns" },
      section("Chat template", {}, source, derived),
      section("Response", {}, el("div", { class: "bar" }, samples, chunks), response, el("details", {}, el("summary", {}, "Prefix and tools"), labelled("Prefix", prefix), labelled("Tools", tools))),
    ),
    section("Parse", {}, view.element),
    el("div", { class: "columns" }, section("Response template", {}, template), found),
  );
  source.placeholder = "Paste or drop a chat template, a tokenizer_config.json or a response template";
  response.placeholder = "Paste what a model wrote";
  source.addEventListener("input", later(openSource));
  template.addEventListener("input", later(lookAtTemplate));
  for (const input of [response, prefix, tools]) {
    input.addEventListener("input", later(() => parse().then(keep)));
  }
  chunks.addEventListener("change", () => parse().then(keep));
  samples.addEventListener("change", () => {
    if (samples.value !== "") {
      take(Number(samples.value));
      parse().then(keep);
    }
  });
  file.addEventListener("change", () => takeFile(file.files?.[0]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.body.addEventListener(name, (event) => {
      const given = /** @type {DragEvent} */ (event).dataTransfer;
      // A text is dropped into the field that it is held over, which browsers do themselves.
      if (!given?.types.includes("Files")) {
        return;
      }
      event.preventDefault();
      document.body.classList.toggle("over", name === "dragover");
      if (name === "drop") {
        takeFile(given.files[0]);
      }
    });
  }
}

async function begin() {
  layOut();
  /** @type {Record<string, string>} */
  let known = {};
  try {
    known = await (await fetch(new URL("../examples.json", import.meta.url))).json();
  } catch {
    told(new Error("The examples could not be loaded."));
  }
  examples.append(...Object.keys(known).map((name) => el("option", { value: name }, name)));
  examples.addEventListener("change", () => examples.value !== "" && fresh(known[examples.value]));
  addEventListener("hashchange", restore);
  if (!(await restore()) && known.qwen3 !== undefined) {
    examples.value = "qwen3";
    fresh(known.qwen3);
  }
}

begin();
