// Findings about a response template, each with its place.

import { el, section } from "./dom.js";

/**
 * @param {import("../types.js").TemplateView} template
 * @param {(span: [number, number]) => void} go shows a place of the template's text
 */
export function findings(template, go) {
  const list = template.findings.map((found) => {
    const { span } = found;
    return el(
      "li",
      { class: `finding ${found.severity}` },
      el("strong", {}, `${found.severity}[${found.code}]`),
      ` ${found.message} `,
      span
        ? el("button", { type: "button", class: "place", onclick: () => go(span) }, `${place(template.text, span[0])}${found.path ? ` ${found.path}` : ""}`)
        : el("span", { class: "dim" }, found.path),
      found.hint && el("p", { class: "dim" }, found.hint),
    );
  });
  const none = el("p", { class: "dim" }, "Nothing was found.");
  return section("Findings", { class: "findings", "aria-live": "polite" }, list.length > 0 ? el("ul", { class: "plain" }, ...list) : none);
}

/**
 * Line and column of an offset.
 * @param {string} text
 * @param {number} at
 */
function place(text, at) {
  const before = text.slice(0, at).split("\n");
  return `${before.length}:${before[before.length - 1].length + 1}`;
}
