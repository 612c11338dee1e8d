// What was derived: the verdict, and each delimiter with what it was read from.

import { el, fill, section } from "./dom.js";

/** @typedef {import("../types.js").Evidence} Evidence */
/** @typedef {import("../types.js").Report} Report */
/** @typedef {import("../types.js").TemplateView} TemplateView */

/**
 * The verdict of a derivation, and its findings.
 * @param {Report | undefined} report
 */
export function verdict(report) {
  if (!report) {
    return null;
  }
  const said = (report.verdict ?? (report.verified ? "proved" : "not_proved")).replaceAll("_", " ");
  const rounds = report.rounds ? `, ${report.rounds.passed} rounds passed, ${report.rounds.failed} failed` : "";
  const findings = (report.findings ?? []).map((found) =>
    el("li", { class: `finding ${found.severity}` }, el("strong", {}, `${found.severity}[${found.code}]`), ` ${found.text}`),
  );
  return el(
    "div",
    { class: "verdict" },
    el("p", {}, el("strong", { class: report.verified ? "good" : "bad" }, said), ` from ${report.source}${rounds}`),
    findings.length > 0 && el("details", {}, el("summary", {}, findings.length === 1 ? "1 finding of the derivation" : `${findings.length} findings of the derivation`), el("ul", {}, ...findings)),
  );
}

/**
 * The delimiters. The evidence of the one that is pointed at, focused or chosen is shown below.
 * @param {TemplateView} template
 * @param {Report | undefined} report
 * @param {(span: [number, number]) => void} [go] shows a place of the template's text
 */
export function delimiters(template, report, go) {
  const shown = el("div", { class: "evidence", id: "evidence", role: "status", "aria-live": "polite" });
  const hint = report ? "Point at a delimiter, or focus it, to see what it was read from." : "There is no derivation to see evidence of.";
  fill(shown, el("p", { class: "dim" }, hint));
  const list = template.delimiters.map((delimiter) => {
    const show = () => {
      for (const other of rows) {
        other.toggleAttribute("data-chosen", other === row);
      }
      const found = delimiter.evidence.map((index) => report?.evidence?.[index]).filter((one) => one !== undefined);
      const none = el("p", { class: "dim" }, report ? "No marker of the evidence spells this delimiter." : hint);
      fill(shown, ...(found.length > 0 ? found.map((one) => evidence(one, report?.source ?? "")) : [none]));
    };
    const place = delimiter.span;
    const row = el(
      "button",
      { type: "button", class: "delimiter", "aria-controls": "evidence", onfocus: show, onmouseenter: show, onclick: () => place && go?.(place) },
      el("span", { class: "dim" }, delimiter.field ? `${delimiter.side} ${delimiter.field}` : "start anchor"),
      " ",
      el("code", {}, delimiter.text),
      " ",
      el("span", { class: "dim" }, delimiter.engine),
    );
    return row;
  });
  const rows = list;
  return section("Delimiters", { class: "delimiters" }, el("ul", { class: "plain" }, ...rows.map((row) => el("li", {}, row))), shown);
}

/**
 * @param {Evidence} found
 * @param {string} source
 */
function evidence(found, source) {
  const places = (found.places ?? []).map((place) =>
    el(
      "li",
      {},
      place.input ? `the input ${place.input.join(".")}` : `${source}:${place.line}:${place.column}`,
      " writes ",
      el("code", {}, JSON.stringify(place.text)),
    ),
  );
  const [left, right] = differences(found.left.text, found.right.text);
  return el(
    "article",
    {},
    el("h3", {}, found.question, " ", el("code", {}, JSON.stringify(found.marker))),
    el("p", {}, found.reading),
    places.length > 0 && el("ul", {}, ...places),
    el(
      "div",
      { class: "renders" },
      el("div", {}, el("p", { class: "removed" }, found.left.variant), el("pre", { tabindex: 0 }, ...left)),
      el("div", {}, el("p", { class: "added" }, found.right.variant), el("pre", { tabindex: 0 }, ...right)),
    ),
  );
}

/**
 * Two texts with what they do not share at their beginnings and ends marked.
 * @param {string} left
 * @param {string} right
 */
function differences(left, right) {
  const least = Math.min(left.length, right.length);
  let head = 0;
  while (head < least && left[head] === right[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < least - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) {
    tail += 1;
  }
  const marked = (/** @type {string} */ text, /** @type {"del" | "ins"} */ name) => [
    text.slice(0, head),
    text.length - tail > head && el(name, {}, text.slice(head, text.length - tail)),
    text.slice(text.length - tail),
  ];
  return [marked(left, "del"), marked(right, "ins")];
}
