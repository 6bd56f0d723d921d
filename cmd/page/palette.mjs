// SPDX-License-Identifier: MIT
//
// palette.mjs: the colours of one tree, as the reader chose them.

import { changeFill, coloursByFunction, coloursByGroup, groupFill, packageOf, stateFill } from './colours.mjs';
import { dominantValues, labelCosts } from './labels.mjs';

const LABEL_VALUES = 10;

/**
 * @typedef {object} Palette
 * @property {(node: number) => string} fill
 * @property {import('./colours.mjs').KeyEntry[]} key
 * @property {(node: number) => [string, number][]} [parts]  colours of a node that has several, and their shares
 */

/** What colours can mean in this profile. @param {import('./analysis.mjs').Analysis} analysis */
export function colourChoices(analysis) {
  const choices = [['module', 'object file'], ['package', 'package'], ['function', 'function']];
  if (analysis.base) {
    choices.unshift(['change', 'change']);
  }
  return choices.concat(analysis.labelKeys.map((key) => [`label:${key}`, `label ${key}`]));
}

/** Whether the profile is of wall-clock time, with states. @param {import('./analysis.mjs').Analysis} analysis */
function isWall({ labelKeys, profile }) {
  return labelKeys.includes('state') && profile.sampleTypes.some(({ type }) => type === 'wall');
}

/** What colours mean unless the reader chose. @param {import('./analysis.mjs').Analysis} analysis */
export function usualColour(analysis) {
  if (analysis.base) {
    return 'change';
  }
  if (isWall(analysis)) {
    return 'label:state';
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
  /** @type {Float64Array[]} */
  const sums = [];
  const isState = key === 'state' && isWall(analysis);
  const winner = dominantValues(tree, group, key, values.map((one) => one.value), isState ? sums : undefined);
  const fills = values.map(({ value }, i) => (isState && stateFill(value, dark)) || groupFill(i, dark))
    .concat(groupFill(-1, dark));
  return {
    fill: (node) => fills[winner[node]],
    parts: isState ? (node) => partsOf(sums, node, fills) : undefined,
    key: values.map(({ value, cost }, i) => ({ text: value || '(empty)', colour: fills[i], cost }))
      .concat(isState ? [] : { text: 'none or another', colour: fills[values.length], cost: 0 }),
  };
}

/** The shares of a node that has several values; [] if it has one. @returns {[string, number][]} */
function partsOf(sums, node, fills) {
  const total = sums.reduce((sum, of) => sum + of[node], 0);
  const parts = sums.map((of, i) => /** @type {[string, number]} */ ([fills[i], of[node] / (total || 1)]))
    .filter(([, share]) => share > 0);
  return parts.length > 1 ? parts : [];
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
