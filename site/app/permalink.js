// The permalink: everything that was put in, compressed, behind the # of the address, which no server is sent.

/** @typedef {{source?: string, template?: string, response?: string, prefix?: string, tools?: string, chunks?: string, step?: number}} Kept */

/**
 * @param {Kept} kept
 * @returns {Promise<string>}
 */
export async function write(kept) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(kept)));
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return `#1${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/**
 * Reads a fragment; `null` where it has nothing. Throws where it is broken.
 * @param {string} fragment
 * @returns {Promise<Kept | null>}
 */
export async function read(fragment) {
  if (!fragment.startsWith("#1")) {
    return null;
  }
  const text = atob(fragment.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
  /** @type {unknown} */
  const value = JSON.parse(new TextDecoder().decode(bytes));
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Error("the permalink holds something else");
  }
  /** @type {Record<string, unknown>} */
  const kept = {};
  for (const [key, member] of Object.entries(value)) {
    const wanted = key === "step" ? "number" : "string";
    if (["source", "template", "response", "prefix", "tools", "chunks", "step"].includes(key) && typeof member === wanted) {
      kept[key] = member;
    }
  }
  return kept;
}

/** The most that a fragment may unfold to: a small one could fill the memory. */
const MOST = 16 << 20;

/**
 * @param {CompressionStream | DecompressionStream} stream
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function through(stream, bytes) {
  const writer = stream.writable.getWriter();
  // What goes wrong is told to the reader as well.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    length += value.length;
    if (length > MOST) {
      await reader.cancel();
      throw new Error("the permalink holds too much");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
