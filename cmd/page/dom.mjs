// SPDX-License-Identifier: MIT
//
// dom.mjs: elements of the page. Texts become text nodes: nothing that a profile says is read as HTML.

const SVG = 'http://www.w3.org/2000/svg';

/** @param {Element} element @param {Record<string, any>} properties */
function apply(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'text') {
      element.textContent = value;
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/**
 * Makes an element. "onclick" and its like are listeners, "text" is the text, all else are attributes.
 * @param {string} tag @param {Record<string, any>} properties @param {...(Node|string|null)} children
 * @returns {any}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  apply(element, properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The same in an SVG. @param {string} tag @param {Record<string, any>} properties @param {...Node} children */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  apply(element, properties);
  element.append(...children);
  return element;
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** Gives an element other children; the keyboard stays at the same control. @param {Element} parent @param {...Node} children */
export function replaceControls(parent, ...children) {
  const controls = () => /** @type {HTMLElement[]} */ ([...parent.querySelectorAll('button, select, input')]);
  const at = controls().indexOf(/** @type {any} */ (document.activeElement));
  parent.replaceChildren(...children);
  controls()[at]?.focus();
}

/** Two or more choices of which one holds. @param {[string, string][]} choices @param {string} current */
export function segmented(name, choices, current, onchoose) {
  const buttons = choices.map(([value, text]) => el('button', {
    type: 'button', text, 'aria-pressed': String(value === current), onclick: () => onchoose(value),
  }));
  return el('div', { class: 'segmented', role: 'group', 'aria-label': name }, ...buttons);
}

/** Saves bytes or a text as a file. @param {string} name @param {BlobPart} content @param {string} type */
export function saveFile(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = el('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
