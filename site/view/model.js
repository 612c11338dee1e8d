// A recorded parse at one of its steps: what of it there is by then. Nothing is parsed here.

/** @typedef {import("../types.js").Replay} Replay */
/** @typedef {import("../types.js").Entry} Entry */

/**
 * The state at a step.
 * @param {Replay} replay
 * @param {number} step
 */
export function stateAt(replay, step) {
  let state = "reading";
  for (const [from, name] of replay.steps.states) {
    if (from <= step) {
      state = name;
    }
  }
  return state;
}

/**
 * The entries that have happened, each with as much of its text as was told.
 * @param {Replay} replay
 * @param {number} step
 * @returns {{entry: Entry, text: string}[]}
 */
export function entriesAt(replay, step) {
  const until = replay.steps.told[step];
  return replay.entries.slice(0, replay.steps.entries[step]).map((entry) => {
    const [start, end] = entry.span;
    return { entry, text: replay.text.slice(start, Math.max(start, Math.min(end, until))) };
  });
}

/**
 * The delimiters that were under way at a step.
 * @param {Replay} replay
 * @param {number} step
 */
export function watchesAt(replay, step) {
  return replay.watches.slice(step === 0 ? 0 : replay.steps.watches[step - 1], replay.steps.watches[step]);
}

/**
 * The message at a step, as JSON.
 * @param {Replay} replay
 * @param {number} step
 */
export function messageAt(replay, step) {
  if (stateAt(replay, step) === "over") {
    return spelled(replay.message.map((member) => [member.key, member.json]));
  }
  /** @type {Map<string, {text?: string, items?: string[], json?: string}>} */
  const members = new Map();
  for (const member of replay.defaults) {
    members.set(member.key, { json: member.json });
  }
  for (const { change } of replay.regions.slice(0, replay.steps.closed[step])) {
    if (change?.text) {
      members.set(change.text[0], { text: change.text[1] });
    } else if (change?.json) {
      members.set(change.json[0], { json: change.json[1] });
    } else if (change?.append) {
      const before = members.get(change.append[0]);
      members.set(change.append[0], { text: (before?.text ?? textOf(before?.json)) + change.append[1] });
    } else if (change?.push) {
      const before = members.get(change.push[0]);
      members.set(change.push[0], { items: [...(before?.items ?? itemsOf(before?.json)), change.push[1]] });
    }
  }
  return spelled(
    [...members].map(([key, { text, items, json }]) => [
      key,
      text !== undefined ? JSON.stringify(text) : items ? `[\n${items.map((item) => indented(item)).join(",\n")}\n]` : (json ?? "null"),
    ]),
  );
}

/** @param {string | undefined} json */
function textOf(json) {
  return json === undefined ? "" : String(JSON.parse(json));
}

/**
 * The items of a list as they are spelled: of JSON with a member or item on a line of its own, two blanks deep.
 * @param {string | undefined} json
 */
function itemsOf(json) {
  const inner = json?.match(/^\[\n([^]*)\n\]$/)?.[1];
  return inner === undefined ? [] : [inner.replace(/^ {2}/gm, "")];
}

/** @param {string} text */
function indented(text) {
  return text.replace(/^/gm, "  ");
}

/** @param {[string, string][]} members */
function spelled(members) {
  if (members.length === 0) {
    return "{}";
  }
  return `{\n${members.map(([key, json]) => indented(`${JSON.stringify(key)}: ${json}`)).join(",\n")}\n}`;
}

/**
 * The parsed text cut into stretches, each with what it is at a step: `field` a region's text, `delimiter`, `held`, `lost`, `future`, or nothing.
 * @param {Replay} replay
 * @param {number} step
 * @returns {{from: number, to: number, kind: string, field?: number, title: string}[]}
 */
export function stretchesAt(replay, step) {
  const { arrived, held, told } = replay.steps;
  /** @type {{from: number, to: number, kind: string, field?: number, title: string}[]} */
  const known = [];
  const name = (/** @type {number} */ field) => replay.fields[field].name;
  for (const entry of replay.entries.slice(0, replay.steps.entries[step])) {
    if (entry.kind === "unclaimed") {
      known.push({ from: entry.span[0], to: Math.min(entry.span[1], told[step]), kind: "lost", title: "no field takes this text" });
    } else if (entry.kind === "stray") {
      known.push({ from: entry.span[0], to: entry.span[1], kind: "delimiter", field: entry.field, title: "closes nothing" });
    } else if (entry.field !== undefined && entry.kind !== "failure") {
      const kind = entry.kind === "text" ? "field" : "delimiter";
      const verb = entry.kind === "text" ? "text of" : entry.kind === "open" ? "opens" : "closes";
      const to = entry.kind === "text" ? Math.min(entry.span[1], told[step]) : entry.span[1];
      known.push({ from: entry.span[0], to, kind, field: entry.field, title: `${verb} ${name(entry.field)}` });
    }
  }
  if (held[step] < arrived[step]) {
    known.push({ from: held[step], to: arrived[step], kind: "held", title: "held: it may be a delimiter, or a part of one" });
  }
  if (arrived[step] < replay.text.length) {
    known.push({ from: arrived[step], to: replay.text.length, kind: "future", title: "has not arrived" });
  }
  known.sort((one, other) => one.from - other.from || one.to - other.to);
  const stretches = [];
  let at = 0;
  for (const one of known) {
    const from = Math.max(one.from, at);
    if (from > at) {
      stretches.push({ from: at, to: from, kind: "plain", title: "in no region" });
    }
    if (one.to > from) {
      stretches.push({ ...one, from });
      at = one.to;
    }
  }
  if (at < replay.text.length) {
    stretches.push({ from: at, to: replay.text.length, kind: "plain", title: "in no region" });
  }
  return stretches;
}

/**
 * Says whether two texts of JSON are of the same value; the order of keys does not count.
 * @param {string} one
 * @param {string} other
 */
export function isSame(one, other) {
  /** @type {(value: unknown) => unknown} */
  const sorted = (value) => {
    if (Array.isArray(value)) {
      return value.map(sorted);
    }
    if (value !== null && typeof value === "object") {
      return Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([key, member]) => [key, sorted(member)]);
    }
    return value;
  };
  try {
    return JSON.stringify(sorted(JSON.parse(one))) === JSON.stringify(sorted(JSON.parse(other)));
  } catch {
    // Not all that Python calls JSON is JSON.
    return one === other;
  }
}
