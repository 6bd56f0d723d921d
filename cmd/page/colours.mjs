// SPDX-License-Identifier: MIT
//
// colours.mjs: what the colours of a flame graph mean, and the key to them.
//
// A colour stands for a group: an object file, a package, a label's value. The groups that have most of the picture have
// hues of their own, in this order; the others are grey. Functions of one group differ a little in lightness, so that
// neighbours can be told apart. Text on every fill has a contrast of more than 4.5 to 1. The pictures that cpprof itself
// draws have the same colours: cmd/convert/flame_colours.c.

const HUES = [212, 28, 146, 272, 178, 334, 50, 6, 238, 88, 196, 304];

/** @typedef {{text: string, colour: string, cost: number}} KeyEntry */

/** A number from 0 to 1 that depends on the text. @param {string} text */
function fraction(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return ((hash ^ (hash >>> 13)) >>> 0) / 0x100000000;
}

/** @param {boolean} dark */
export function themeColours(dark) {
  return dark
    ? { text: '#f2f4f8', paper: '#14171c', faded: '#2b3038', fadedText: '#9aa4b2', edge: '#14171c', match: '#e0a63a',
      matchText: '#14171c', outline: '#ffffff' }
    : { text: '#15181d', paper: '#ffffff', faded: '#e9ebef', fadedText: '#5d6673', edge: '#ffffff', match: '#ffc83d',
      matchText: '#15181d', outline: '#15181d' };
}

/** The fill of a group: `index` is its place in their order, -1 for the rest. */
export function groupFill(index, dark, shade = 0.5, named = true) {
  const hue = HUES[index];
  const lightness = (dark ? 30 : 79) + (shade - 0.5) * (dark ? 4 : 7);
  const saturation = (dark ? 46 : 72) * (named ? 1 : 0.45);
  return hue === undefined ? `hsl(220 6% ${lightness}%)` : `hsl(${hue} ${saturation}% ${lightness}%)`;
}

/**
 * Each state of a wall-clock profile on white and on black: what is mostly idle is grey. Any two differ also for readers who
 * do not tell red from green, or blue from yellow.
 */
const STATES = {
  running: ['#d5a461', '#ac571f'], preempted: ['#e6dd5d', '#823117'], lock: ['#cc6766', '#581210'],
  io: ['#6688cc', '#161d60'], net: ['#90bcf1', '#2767b9'], child: ['#76ed9d', '#227d4b'], page: ['#926eed', '#4b1c9c'],
  other: ['#8192b1', '#6c6d71'], sleep: ['#a2a2a2', '#4b547b'], poll: ['#cecee1', '#3f3f3f'],
};

/** The fill of a state; of a value that is none, undefined. @param {string} state @param {boolean} dark */
export function stateFill(state, dark) {
  return STATES[state]?.[dark ? 1 : 0];
}

/** The package of a function: what Go, C++, Rust, Java put before the last part of a name. @param {string} label */
export function packageOf(label) {
  const bare = label.replace(/[<(].*$/s, '');
  const slash = bare.lastIndexOf('/');
  const rest = bare.slice(slash + 1);
  const colons = rest.indexOf('::');
  const cut = colons >= 0 ? colons : rest.indexOf('.');
  return cut > 0 ? bare.slice(0, slash + 1 + cut) : '';
}

/** What each group's frames add up to. @param {string[]} groupOf @param {Float64Array} values @returns {Map<string, number>} */
function sumGroups(groupOf, values) {
  const sums = new Map();
  groupOf.forEach((group, frame) => sums.set(group, (sums.get(group) || 0) + Math.abs(values[frame])));
  return sums;
}

/** A frame whose function has no name: libpprof writes "[perl]+0x1964a0", and an address alone is "[perl]". */
function isNamed(label) {
  return !label.startsWith('[') && label !== '<unknown>';
}

/**
 * Colours by a group that each frame has. The groups that have most of the picture get the hues.
 * @param {import('./frames.mjs').Frames} frames @param {string[]} groupOf
 * @param {Float64Array} areas of the frames in the picture @param {Float64Array} costs their flat values
 * @param {boolean} dark
 */
export function coloursByGroup(frames, groupOf, areas, costs, dark) {
  const ranked = [...sumGroups(groupOf, areas)].filter(([, area]) => area > 0).sort((a, b) => b[1] - a[1]);
  const rank = new Map(ranked.map(([group], i) => [group, group === '' || i >= HUES.length ? -1 : i]));
  const fills = frames.labels.map((label, frame) =>
    groupFill(rank.get(groupOf[frame]) ?? -1, dark, fraction(label), isNamed(label)));
  const flat = sumGroups(groupOf, costs);
  const key = ranked.slice(0, HUES.length).map(([group], i) =>
    ({ text: group || 'other', colour: groupFill(group === '' ? -1 : i, dark), cost: flat.get(group) || 0 }));
  return { fills, key };
}

/** Each function its own colour. @param {import('./frames.mjs').Frames} frames @param {boolean} dark */
export function coloursByFunction(frames, dark) {
  return frames.labels.map((label) => groupFill(Math.floor(fraction(label) * HUES.length), dark, fraction(`${label} `)));
}

/**
 * The colour of a change: red is growth, blue is shrinkage, grey is neither. `change` is from -1 to 1.
 * @param {number} change @param {boolean} dark
 */
export function changeFill(change, dark) {
  const size = Math.min(Math.abs(change), 1);
  if (size < 0.005) {
    return dark ? 'hsl(220 6% 28%)' : 'hsl(220 10% 90%)';
  }
  const steps = Math.ceil(Math.sqrt(size) * 8) / 8;
  const hue = change > 0 ? 8 : 214;
  return dark ? `hsl(${hue} ${20 + 45 * steps}% ${28 + 8 * steps}%)` : `hsl(${hue} ${30 + 55 * steps}% ${91 - 20 * steps}%)`;
}
