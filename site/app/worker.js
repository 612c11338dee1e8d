// The work, apart from the page: whatever a template does here, the page goes on, and ends this when it takes too long.

import { init, open, replay, template } from "../obverse/page.js";

const ready = init();

addEventListener("message", async (event) => {
  const { id, call, given } = event.data;
  try {
    await ready;
    const result = call === "open" ? open(given.name, given.text) : call === "template" ? template(given.text, given.report) : replay(given.template, given.response, given);
    postMessage({ id, result });
  } catch (error) {
    const known = error instanceof Error && error.name === "ObverseError";
    postMessage({ id, error: String(error instanceof Error ? error.message : error), broken: !known });
  }
});

ready.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String(error) }),
);
