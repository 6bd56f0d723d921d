// SPDX-License-Identifier: MIT
//
// state.mjs: what the page shows, and its form in the URL.
//
// Everything that a reader chose is in the part of the URL after the #, so that a link shows the same thing again.

/**
 * @typedef {object} State
 * @property {string} view        flame, table, sandwich, graph, source, labels
 * @property {string} type        the sample type; '' is the profile's own choice
 * @property {string} order       down: from the root to the leaf; up: from the leaf to the root
 * @property {string} grow        icicle or flame
 * @property {string} colour      module, package, function, change, or label:KEY
 * @property {string} search
 * @property {string[]} focus     samples in which each of these matches
 * @property {string[]} ignore    but none of these
 * @property {string[]} labels    KEY=VALUE that samples have, or !KEY=VALUE that they have not
 * @property {string} selected    a function
 * @property {string} zoom        a node of the flame graph
 * @property {string} sort        a column of the table
 * @property {string} filter      of the table
 * @property {string} normalize   1: the profile to compare with is scaled to the same total
 * @property {string} theme       light, dark, or '' for the system's
 */

/** @returns {State} */
export function defaultState() {
  return {
    view: 'flame', type: '', order: 'down', grow: 'icicle', colour: '', search: '', focus: [], ignore: [], labels: [],
    selected: '', zoom: '', sort: '', filter: '', normalize: '', theme: '',
  };
}

/** The state that a URL's fragment stands for. @param {string} hash @returns {State} */
export function parseState(hash) {
  const state = /** @type {any} */ (defaultState());
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  for (const key of Object.keys(state)) {
    if (Array.isArray(state[key])) {
      state[key] = fields.getAll(key);
    } else if (fields.has(key)) {
      state[key] = fields.get(key);
    }
  }
  return state;
}

/** The fragment for a state: what differs from the default. @param {State} state */
export function formatState(state) {
  const fields = new URLSearchParams();
  const usual = /** @type {any} */ (defaultState());
  for (const [key, value] of Object.entries(state)) {
    if (Array.isArray(value)) {
      value.forEach((one) => fields.append(key, one));
    } else if (value !== usual[key]) {
      fields.set(key, value);
    }
  }
  return fields.toString();
}
