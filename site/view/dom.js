// Making elements. Text is put in as text alone: nothing of a response or a template is ever markup.

/**
 * @typedef {string | number | Node | null | undefined | false} Child
 */

/**
 * An element with attributes, listeners (keys that begin with `on`) and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  fill(element, ...children);
  return element;
}

/**
 * Gives an element other children.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const made = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...made.map((child) => (child instanceof Node ? child : document.createTextNode(visible(String(child))))));
}

/**
 * A text with characters that nobody sees, or that turn others around, spelled out.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (sign) =>
    `\\u{${sign.charCodeAt(0).toString(16)}}`,
  );
}

/**
 * A section with a heading.
 * @param {string} title
 * @param {Record<string, unknown>} attributes
 * @param {...Child} children
 */
export function section(title, attributes, ...children) {
  return el("section", { "aria-label": title, ...attributes }, el("h2", {}, title), ...children);
}
