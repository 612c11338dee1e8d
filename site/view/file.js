// The page in one file: everything was made beforehand, and stands in it.

import { el, fill, section } from "./dom.js";
import { delimiters, verdict } from "./evidence.js";
import { findings } from "./findings.js";
import { stepper } from "./stepper.js";

function showFile() {
  /** @type {import("../types.js").Page} */
  const page = JSON.parse(document.getElementById("page")?.textContent ?? "null");
  const main = document.getElementById("file");
  if (!main || !page) {
    return;
  }
  const source = el("textarea", { readonly: true, rows: 14, "aria-label": "Response template", spellcheck: "false" });
  source.value = page.template.text;
  const goTo = (/** @type {[number, number]} */ [start, end]) => {
    source.focus();
    source.setSelectionRange(start, end);
  };
  const view = stepper();
  const choice = el("select", { id: "sample" }, ...page.samples.map((sample, index) => el("option", { value: index }, sample.name)));
  const choose = () => {
    const sample = page.samples[Number(choice.value)];
    if (sample?.replay) {
      view.show(sample.replay, undefined, sample.expected);
    }
  };
  choice.addEventListener("change", choose);
  fill(
    main,
    el("header", {}, el("h1", {}, page.title)),
    verdict(page.report),
    page.samples.length > 0 &&
      el("div", { class: "chosen" }, el("label", { for: "sample" }, "Response "), choice, page.left_out > 0 && el("span", { class: "dim" }, ` ${page.left_out} more were left out`)),
    page.samples.length > 0 && view.element,
    el("div", { class: "columns" }, section("Response template", {}, source), el("div", {}, findings(page.template, goTo), delimiters(page.template, page.report, goTo))),
  );
  choose();
}

showFile();
