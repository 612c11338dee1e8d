// A recorded parse, to be dragged through both ways.

import { el, fill, section, visible } from "./dom.js";
import { entriesAt, isSame, messageAt, stateAt, stretchesAt, watchesAt } from "./model.js";

/** @typedef {import("../types.js").Replay} Replay */

/** So many elements are enough of a list that nobody reads to its end. */
const MOST = 2000;

/** The steps that a key goes, from a step and the number of them. @type {Record<string, (step: number, last: number) => number>} */
const KEYS = {
  ArrowRight: (step) => step + 1,
  ArrowLeft: (step) => step - 1,
  PageDown: (step) => step + 10,
  PageUp: (step) => step - 10,
  Home: () => 0,
  End: (_, last) => last,
};

/**
 * The panes that show a parse.
 * @param {(step: number) => void} [moved] is told of each step that is gone to
 */
export function stepper(moved) {
  /** @type {Replay | null} */
  let replay = null;
  let step = 0;
  const slider = el("input", { type: "range", id: "step", min: 0, max: 0, value: 0, "aria-label": "Step of the parse" });
  const back = el("button", { type: "button", "aria-label": "One step back" }, "‹");
  const on = el("button", { type: "button", "aria-label": "One step on" }, "›");
  const where = el("output", { for: "step", class: "where" });
  const text = el("pre", { class: "response", tabindex: 0, role: "group", "aria-label": "Response, by regions; arrow keys step" });
  const legend = el("p", { class: "legend" });
  const state = el("div", { class: "state", role: "status", "aria-live": "polite" });
  const events = el("ol", { class: "events", tabindex: 0, "aria-label": "Events so far" });
  const message = el("pre", { class: "message", tabindex: 0, "aria-label": "Message so far" });
  const expected = el("p", { class: "dim" });

  const draw = () => {
    if (!replay) {
      return;
    }
    const last = replay.steps.arrived.length - 1;
    slider.max = String(last);
    slider.value = String(step);
    back.disabled = step === 0;
    on.disabled = step === last;
    const status = stateAt(replay, step);
    const said = status === "over" ? "over" : `${replay.steps.arrived[step] - replay.prefix} of ${replay.text.length - replay.prefix} characters`;
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}, ${said}`);
    fill(where, `step ${step} of ${last}, ${said}`);
    drawText(replay);
    drawState(replay, status);
    drawEvents(replay);
    fill(message, messageAt(replay, step));
  };

  const drawText = (/** @type {Replay} */ shown) => {
    const spans = stretchesAt(shown, step).slice(0, 4 * MOST);
    fill(
      text,
      ...spans.map(({ from, to, kind, field, title }) =>
        el("span", { class: `${kind}${field === undefined ? "" : ` f${field % 6}`}${from < shown.prefix ? " prefix" : ""}`, title }, shown.text.slice(from, to)),
      ),
    );
  };

  const drawState = (/** @type {Replay} */ shown, /** @type {string} */ status) => {
    const open = shown.steps.open[step];
    const held = shown.text.slice(shown.steps.held[step], shown.steps.arrived[step]);
    const region = shown.regions[open - 1];
    const says =
      status === "over"
        ? "The response is over."
        : status === "ended"
          ? "A limit ended the parse."
          : status === "stalled"
            ? "Reads no further: an empty close met an empty region."
            : region
              ? `In ${shown.fields[region.field].name}.`
              : "Between regions.";
    fill(
      state,
      el("p", {}, says),
      held !== "" && el("p", { class: "holds" }, "Holds ", el("code", { class: "held" }, JSON.stringify(held))),
      ...watchesAt(shown, step).map((watch) =>
        el(
          "p",
          {},
          `${watch.side} ${shown.fields[watch.field].name} `,
          el("code", {}, (watch.side === "open" ? shown.fields[watch.field].open : shown.fields[watch.field].close) ?? ""),
          ` ${watch.matched ? "matched" : "perhaps"}: ${watch.reason}`,
        ),
      ),
      region?.captures && el("p", {}, "Captured ", el("code", {}, region.captures)),
      shown.failure && step === shown.steps.arrived.length - 1 && el("p", { class: "bad" }, shown.failure),
    );
  };

  const drawEvents = (/** @type {Replay} */ shown) => {
    const all = entriesAt(shown, step);
    const from = Math.max(0, all.length - MOST);
    fill(
      events,
      ...all.slice(from).map(({ entry, text: told }) => {
        const region = entry.region === undefined ? undefined : shown.regions[entry.region];
        const name = entry.field === undefined ? "" : shown.fields[entry.field].name;
        const short = told.length > 200 ? `${told.slice(0, 200)}…` : told;
        return el(
          "li",
          { class: entry.kind, "aria-current": entry.last === step ? "step" : false },
          el("button", { type: "button", class: "place", onclick: () => go(entry.last) }, entry.kind),
          " ",
          name !== "" && el("span", { class: `name f${(entry.field ?? 0) % 6}` }, name),
          " ",
          short !== "" && el("code", {}, JSON.stringify(short)),
          entry.kind === "close" && region?.value && el("span", { class: "dim" }, ` = ${visible(region.value.slice(0, 200))}`),
          entry.kind === "close" && region?.replaces !== undefined && el("span", { class: "bad" }, " replaces an earlier value, which is lost"),
          entry.kind === "error" && el("span", { class: "bad" }, ` ${region?.error ?? ""}`),
          entry.kind === "failure" && el("span", { class: "bad" }, ` ${shown.failure ?? ""}`),
        );
      }),
    );
    events.scrollTop = events.scrollHeight;
  };

  const go = (/** @type {number} */ to) => {
    if (!replay) {
      return;
    }
    step = Math.max(0, Math.min(Math.round(to), replay.steps.arrived.length - 1));
    draw();
    moved?.(step);
  };

  slider.addEventListener("input", () => go(Number(slider.value)));
  back.addEventListener("click", () => go(step - 1));
  on.addEventListener("click", () => go(step + 1));
  text.addEventListener("keydown", (event) => {
    const next = KEYS[event.key];
    if (next && replay && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      go(next(step, replay.steps.arrived.length - 1));
    }
  });
  const element = el(
    "div",
    { class: "stepper" },
    el("div", { class: "steps" }, back, slider, on, where),
    section("Response", {}, legend, text),
    section("What is held", {}, state),
    section("Events", {}, events),
    section("Message", {}, message, expected),
  );
  return {
    element,
    go,
    get step() {
      return step;
    },
    /**
     * Shows another parse, at a step; without one, at the last.
     * @param {Replay} other
     * @param {number} [at]
     * @param {string} [wanted] the message that it must parse to
     */
    show(other, at, wanted) {
      replay = other;
      const keys = other.fields.map((field, index) => el("span", { class: `key f${index % 6}` }, field.name));
      fill(legend, ...keys, el("span", { class: "key held" }, "held"), el("span", { class: "key lost" }, "in no field"));
      const last = other.steps.arrived.length - 1;
      const same = wanted !== undefined && isSame(messageAt(other, last), wanted);
      fill(expected, wanted === undefined ? "" : same ? "The message is the one that was expected." : `Expected: ${wanted}`);
      expected.className = wanted === undefined || same ? "dim" : "bad expected";
      go(at ?? last);
    },
  };
}
