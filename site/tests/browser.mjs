// A browser, and a server of static files for it.
import { createServer } from "node:http";
import { mkdtempSync, readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };

/** Serves a folder; returns its address and what ends it. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const file = join(folder, path === "/" ? "index.html" : path);
    try {
      const bytes = readFileSync(file);
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { address: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() };
}

/** Begins a browser with an empty profile, in the working folder. A browser that is ended goes on writing there for a while, so that the
 * folder is left to whoever made it. */
export function launch() {
  const profile = mkdtempSync(join(process.cwd(), "browser-"));
  return chromium.launchPersistentContext(profile, {
    executablePath: process.env.OBVERSE_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    viewport: { width: 1280, height: 900 },
  });
}

/** How long anything is waited for, in milliseconds: as long as it takes on a busy machine without optimisation. */
export const PATIENCE = 240000;

/** A page that remembers what went wrong on it, and what it asked for. */
export async function newPage(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.troubles = [];
  page.requests = [];
  page.on("pageerror", (error) => page.troubles.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.troubles.push(message.text()));
  page.on("dialog", (dialog) => {
    page.troubles.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => page.requests.push(request.url()));
  return page;
}
