#!/usr/bin/env node
// The command of the package, `npx obverse`: some verbs of the binary, for whom nothing but Node is at hand. Arguments in, results out; the
// results on standard output and the exit statuses are the binary's.
import { readFileSync, readSync } from "node:fs";
import { parseArgs } from "node:util";
import { commit } from "./commit.js";

const HELP = `The workbench for response templates

Usage: obverse derive [--for ENGINE]... [--thorough] [--format json] FILE
       obverse parse [--prefix TEXT] [--tools FILE] TEMPLATE [RESPONSE]
       obverse lint [--for ENGINE]... FILE...

  derive  a response template from a chat template: a .jinja file or a tokenizer_config.json; with --format json its report
  parse   the message that a response stands for; standard input without RESPONSE
  lint    what will go wrong with response templates

A file may be - for standard input. Exit status: 0 all is well; 1 something was found, or does not hold; 2 the work could not be done.
This is the npm package's command. The binary has more verbs and options, and longer reports: see README.md.
`;

/** What ends the command with the status 2. */
class Unable extends Error {}

const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));

/** A line for people, in which what comes from a file moves no cursor. */
const plain = (line) => line.replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);

const tell = (line) => process.stderr.write(`${plain(line)}\n`);

/** All of standard input. Where it is a terminal or a pipe that has nothing yet, reading it by its number may fail, and is tried again. */
function input() {
  const pieces = [];
  const piece = Buffer.alloc(65536);
  for (;;) {
    try {
      const length = readSync(0, piece);
      if (length === 0) {
        return Buffer.concat(pieces);
      }
      pieces.push(Buffer.from(piece.subarray(0, length)));
    } catch (error) {
      if (error.code === "EOF") {
        return Buffer.concat(pieces);
      }
      if (error.code !== "EAGAIN") {
        throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function read(file) {
  let bytes;
  try {
    bytes = file === "-" ? input() : readFileSync(file);
  } catch (error) {
    throw new Unable(`error[unreadable]: cannot read ${file}: ${error.message}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unable(`error[unreadable]: cannot read ${file}: it is not UTF-8`);
  }
}

/** JSON as the binary writes it; JSON.stringify takes no integers of any size and no NaN. */
function json(value, indent = "") {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
    return String(value);
  }
  if (value === null || typeof value !== "object") {
    return JSON.stringify(value);
  }
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => json(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${json(item, inner)}`);
  const [open, close] = isList ? "[]" : "{}";
  return parts.length === 0 ? open + close : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

const print = (value) => process.stdout.write(`${json(value)}\n`);

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

const verbs = {
  derive: {
    options: { for: { type: "string", multiple: true }, thorough: { type: "boolean" }, format: { type: "string" } },
    files: [1, 1],
    async run([file], { for: engines = [], thorough = false, format = "human" }) {
      if (format !== "human" && format !== "json") {
        throw new Unable(`error: --format is human or json, not ${format}`);
      }
      const { derive } = await import("./index.node.js");
      const name = file === "-" ? "<stdin>" : file;
      const { text, report } = derive(read(file), { name, for: engines, thorough });
      if (format === "json") {
        print(report);
      } else {
        process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
        const { passed, failed } = report.rounds;
        tell(`${report.verdict.replaceAll("_", " ")}  ${name}  rounds: ${passed} passed${failed ? `, ${failed} failed` : ""}`);
        for (const finding of report.findings) {
          tell(`  ${finding.severity}[${finding.code}]: ${finding.text}`);
        }
      }
      return report.verified ? 0 : 1;
    },
  },

  parse: {
    options: { prefix: { type: "string" }, tools: { type: "string" } },
    files: [1, 2],
    async run([file, response = "-"], { prefix = "", tools }) {
      // The parser alone is there in a quarter of the time.
      const { Parser } = await import("./parser.node.js");
      const parser = new Parser(read(file), { prefix, tools: tools === undefined ? undefined : read(tools), onError: "throw" });
      try {
        parser.feed(read(response));
        print(parser.finish().message);
      } catch (error) {
        if (error.field === undefined) {
          throw error;
        }
        const { events, ...told } = error;
        print({ error: { kind: told.kind, message: error.message, ...told }, message: parser.message });
        tell(`error[${error.kind}]: ${error.message}`);
        return 1;
      }
      for (const { start, end, text } of parser.unclaimed) {
        if (text.trim() !== "") {
          tell(`warning[unclaimed]: no field takes bytes ${start} to ${end} of the response: ${JSON.stringify(text)}`);
        }
      }
      return 0;
    },
  },

  lint: {
    options: { for: { type: "string", multiple: true } },
    files: [1, Infinity],
    async run(files, { for: engines = [] }) {
      const { lint } = await import("./index.node.js");
      let errors = 0;
      for (const file of files) {
        const text = read(file);
        const bytes = Buffer.from(text);
        for (const { code, severity, message, place } of lint(text, { for: engines })) {
          if (severity === "info") {
            continue;
          }
          errors += severity === "error";
          let where = file === "-" ? "<stdin>" : file;
          if (place.span) {
            const lines = bytes.subarray(0, place.span.start).toString().split("\n");
            where += `:${lines.length}:${[...lines.at(-1)].length + 1}`;
          }
          process.stdout.write(`${plain(`${where}: ${severity}[${code}] ${message.replaceAll("\n", "\\n")}`)}\n`);
        }
      }
      return errors > 0 ? 1 : 0;
    },
  },
};

async function main([verb, ...rest]) {
  if (verb === "--version" || verb === "-V") {
    process.stdout.write(`obverse ${version}${commit ? ` (${commit})` : ""}\n`);
    return 0;
  }
  if (verb === "--help" || verb === "-h" || verb === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  if (!Object.hasOwn(verbs, verb ?? "")) {
    throw new Unable(`error: ${verb === undefined ? "a verb is missing" : `the npm package has no verb ${verb}`}\n\n${HELP}`);
  }
  const { options, files, run } = verbs[verb];
  let given;
  try {
    given = parseArgs({ args: rest, options: { ...options, help: { type: "boolean", short: "h" } }, allowPositionals: true });
  } catch (error) {
    throw new Unable(`error: ${error.message}\n\n${HELP}`);
  }
  if (given.values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const [least, most] = files;
  if (given.positionals.length < least || given.positionals.length > most) {
    throw new Unable(`error: ${verb} takes ${least === most ? count(least, "file") : `${least} to ${most} files`}\n\n${HELP}`);
  }
  return run(given.positionals, given.values);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Unable) && error.name !== "ObverseError") {
    throw error;
  }
  const lines = error instanceof Unable ? error.message : `error[${error.kind}]: ${error.message}`;
  lines.trimEnd().split("\n").forEach(tell);
  process.exitCode = 2;
}
