// Asking the worker, with a limit of time behind which it is ended and another one begun.

/** The limit of one piece of work, in milliseconds; `?limit=` of the address changes it. */
const LIMIT = Math.max(100, Number(new URLSearchParams(location.search).get("limit")) || 10000);

/** The limit of loading the module, which comes over a network. */
const LOADING = 60000;

/** What takes the place of work that has newer work of its kind behind it. */
export class Outdated extends Error {}

/**
 * @typedef {{id: number, call: string, given: object, settle: (result: any) => void, fail: (error: Error) => void}} Task
 */

export class Work {
  /** @type {Worker | null} */
  #worker = null;
  #isReady = false;
  /** @type {Task[]} */
  #waiting = [];
  /** @type {Task | null} */
  #current = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #last = 0;

  constructor() {
    this.#begin();
  }

  /**
   * Has something done. Of one kind only the newest is waited for.
   * @param {string} call
   * @param {object} given
   * @returns {Promise<any>}
   */
  ask(call, given) {
    for (const task of this.#waiting.filter((one) => one.call === call)) {
      task.fail(new Outdated());
    }
    this.#waiting = this.#waiting.filter((one) => one.call !== call);
    return new Promise((settle, fail) => {
      this.#last += 1;
      this.#waiting.push({ id: this.#last, call, given, settle, fail });
      this.#next();
    });
  }

  #begin() {
    this.#isReady = false;
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", (event) => worker === this.#worker && this.#heard(event.data));
    worker.addEventListener("error", (event) => worker === this.#worker && this.#end(`The worker failed: ${event.message ?? "it could not be loaded"}.`));
    this.#timer = setTimeout(() => this.#end("The module could not be loaded in time."), LOADING);
  }

  /** @param {{ready?: boolean, failed?: string, id?: number, result?: unknown, error?: string, broken?: boolean}} data */
  #heard(data) {
    if (data.ready) {
      clearTimeout(this.#timer);
      this.#isReady = true;
      this.#next();
    } else if (data.failed !== undefined) {
      this.#end(`The module could not be loaded: ${data.failed}`);
    } else if (this.#current && data.id === this.#current.id) {
      if (data.broken) {
        this.#end(`The work failed (${data.error}). It was ended, and begun anew.`);
        return;
      }
      const task = this.#current;
      clearTimeout(this.#timer);
      this.#current = null;
      if (data.error === undefined) {
        task.settle(data.result);
      } else {
        task.fail(new Error(data.error));
      }
      this.#next();
    }
  }

  #next() {
    if (!this.#worker) {
      this.#begin();
    }
    if (!this.#isReady || this.#current) {
      return;
    }
    const task = this.#waiting.shift();
    if (task) {
      this.#current = task;
      this.#timer = setTimeout(() => this.#end(`This took longer than ${LIMIT / 1000} seconds and was ended. The page goes on.`), LIMIT);
      this.#worker?.postMessage({ id: task.id, call: task.call, given: task.given });
    }
  }

  /** @param {string} why */
  #end(why) {
    clearTimeout(this.#timer);
    this.#worker?.terminate();
    this.#worker = null;
    const current = this.#current ?? this.#waiting.shift();
    this.#current = null;
    current?.fail(new Error(why));
    if (this.#waiting.length > 0) {
      this.#begin();
    }
  }
}
