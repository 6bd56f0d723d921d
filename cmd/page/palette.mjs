// SPDX-License-Identifier: MIT
//
// palette.mjs: the colours of one tree, as the reader chose them.

import { changeFill, coloursByFunction, coloursByGroup, groupFill, packageOf } from './colours.mjs';
import { dominantValues, labelCosts } from './labels.mjs';

const LABEL_VALUES = 10;

/**
 * @typedef {object} Palette
 * @property {(node: number) => string} fill
 * @property {import('./colours.mjs').KeyEntry[]} key
 */

/** What colours can mean in this profile. @param {import('./analysis.mjs').Analysis} analysis */
export function colourChoices(analysis) {
  const choices = [['module', 'object file'], ['package', 'package'], ['function', 'function']];
  if (analysis.base) {
    choices.unshift(['change', 'change']);
  }
  return choices.concat(analysis.labelKeys.map((key) => [`label:${key}`, `label ${key}`]));
}

/** What colours mean unless the reader chose. @param {import('./analysis.mjs').Analysis} analysis */
export function usualColour(analysis) {
  if (analysis.base) {
    return 'change';
  }
  const modules = new Set(analysis.frames.modules.filter((module) => module && !module.startsWith('[')));
  return modules.size > 1 ? 'module' : 'package';
}

/** @param {import('./tree.mjs').Tree} tree @param {boolean} dark @returns {Palette} */
function changePalette(tree, dark) {
  const now = tree.total, before = tree.baseTotal || now;
  return {
    fill: (node) => changeFill((now[node] - before[node]) / (Math.max(Math.abs(now[node]), Math.abs(before[node])) || 1),
      dark),
    key: [
      { text: 'grew', colour: changeFill(1, dark), cost: 0 },
      { text: 'as before', colour: changeFill(0, dark), cost: 0 },
      { text: 'shrank', colour: changeFill(-1, dark), cost: 0 },
    ],
  };
}

/** @returns {Palette} */
function labelPalette(analysis, state, tree, key, dark) {
  const [group] = analysis.groups(state);
  const costs = labelCosts(group).find((one) => one.key === key);
  const values = costs ? costs.values.slice(0, LABEL_VALUES) : [];
  const winner = dominantValues(tree, group, key, values.map((one) => one.value));
  const fills = values.map((_, i) => groupFill(i, dark)).concat(groupFill(-1, dark));
  return {
    fill: (node) => fills[winner[node]],
    key: values.map(({ value, cost }, i) => ({ text: value || '(empty)', colour: fills[i], cost }))
      .concat({ text: 'none or another', colour: fills[values.length], cost: 0 }),
  };
}

/**
 * @param {import('./analysis.mjs').Analysis} analysis @param {import('./state.mjs').State} state
 * @param {import('./tree.mjs').Tree} tree @param {boolean} dark
 * @returns {Palette}
 */
export function makePalette(analysis, state, tree, dark) {
  const mode = state.colour || usualColour(analysis), { frames } = analysis;
  if (mode === 'change' && analysis.base) {
    return changePalette(tree, dark);
  }
  if (mode.startsWith('label:')) {
    return labelPalette(analysis, state, tree, mode.slice('label:'.length), dark);
  }
  const rootFill = groupFill(-1, dark);
  if (mode === 'function') {
    const fills = coloursByFunction(frames, dark);
    return { fill: (node) => (node ? fills[tree.frame[node]] : rootFill), key: [] };
  }
  const groupOf = mode === 'package' ? frames.labels.map(packageOf) : frames.modules;
  const areas = new Float64Array(frames.count);
  for (let node = 1; node < tree.count; node++) {
    areas[tree.frame[node]] += tree.width[node];
  }
  const { fills, key } = coloursByGroup(frames, groupOf, areas, analysis.flat(state), dark);
  return { fill: (node) => (node ? fills[tree.frame[node]] : rootFill), key };
}
