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
 * @property {[string, string][]} filters   the kind and the text of each, in the order in which the reader chose them
 * @property {string} selected    a function
 * @property {string} zoom        a node of the flame graph
 * @property {string} sort        a column of the table
 * @property {string} filter      of the table
 * @property {string} normalize   1: the profile to compare with is scaled to the same total
 * @property {string} theme       light, dark, or '' for the system's
 */

/**
 * The kinds of filters: how the page calls one that holds, and its button, key and explanation.
 *
 * labels have KEY=VALUE, or !KEY=VALUE. The text of any other is "=NAME", which is the function with that name, or an
 * expression. The first three choose samples by their whole stacks; the others change the stacks.
 * @type {Record<string, string[]>}
 */
export const FILTERS = {
  labels: ['label'],
  focus: ['only', 'Only', 'f', 'Only samples with this function'],
  ignore: ['without', 'Without', 'x', 'Only samples without this function'],
  root: ['from', 'Focus', 'F', 'Stacks begin at this function'],
  merge: ['merged', 'Merge', 'm', 'Hide this function: its callers get what it costs'],
  collapse: ['collapsed', 'Collapse', 'C', 'Hide what this function calls: it gets what that costs'],
  recursion: ['recursion of', 'Recursion', 'R', 'Hide the calls between this function and itself'],
};

/** @returns {State} */
export function defaultState() {
  return {
    view: 'flame', type: '', order: 'down', grow: 'icicle', colour: '', search: '', filters: [],
    selected: '', zoom: '', sort: '', filter: '', normalize: '', theme: '',
  };
}

/** The state that a URL's fragment stands for. @param {string} hash @returns {State} */
export function parseState(hash) {
  const state = /** @type {any} */ (defaultState());
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (Object.hasOwn(FILTERS, key)) {
      state.filters.push([key, value]);
    } else if (typeof state[key] === 'string') {
      state[key] = value;
    }
  }
  return state;
}

/** The fragment for a state: what differs from the default. @param {State} state */
export function formatState(state) {
  const fields = new URLSearchParams(state.filters);
  const usual = /** @type {any} */ (defaultState());
  for (const [key, value] of Object.entries(state)) {
    if (typeof value === 'string' && value !== usual[key]) {
      fields.set(key, value);
    }
  }
  return fields.toString();
}
