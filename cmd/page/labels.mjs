// SPDX-License-Identifier: MIT
//
// labels.mjs: the labels of samples, what each value costs, and which value a part of the flame graph mostly has.

import { labelText } from './filter.mjs';

/** The keys of all labels, in alphabetical order. @param {import('./decode.mjs').Profile} profile */
export function labelKeys(profile) {
  return [...new Set(profile.labelKey)].map((index) => profile.strings[index]).sort();
}

/**
 * For each key its values by falling cost.
 * @param {import('./tree.mjs').Group} group
 * @returns {{key: string, values: {value: string, cost: number}[], total: number}[]}
 */
export function labelCosts({ source: { profile }, values, mask }) {
  /** @type {Map<string, Map<string, number>>} */
  const keys = new Map();
  const texts = new Map();
  for (let sample = 0; sample < profile.sampleCount; sample++) {
    if (mask && !mask[sample]) {
      continue;
    }
    for (let at = profile.labelBegin[sample]; at < profile.labelBegin[sample + 1]; at++) {
      const key = profile.strings[profile.labelKey[at]];
      const value = cachedText(texts, profile, at);
      const costs = keys.get(key) || new Map();
      keys.set(key, costs);
      costs.set(value, (costs.get(value) || 0) + Number(values[sample]));
    }
  }
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, costs]) => ({
    key,
    values: [...costs].map(([value, cost]) => ({ value, cost })).sort((a, b) => Math.abs(b.cost) - Math.abs(a.cost)),
    total: [...costs.values()].reduce((sum, cost) => sum + cost, 0),
  }));
}

/** @param {Map<string, string>} texts @param {import('./decode.mjs').Profile} profile @param {number} at */
function cachedText(texts, profile, at) {
  if (!profile.labelIsNumeric[at]) {
    return profile.strings[profile.labelText[at]];
  }
  const id = `${profile.labelNumber[at]} ${profile.labelText[at]}`;
  const known = texts.get(id) || labelText(profile, at);
  texts.set(id, known);
  return known;
}

/** The value of a key in a sample, or ''. @param {import('./decode.mjs').Profile} profile */
function valueOf(profile, sample, key, texts) {
  for (let at = profile.labelBegin[sample]; at < profile.labelBegin[sample + 1]; at++) {
    if (profile.strings[profile.labelKey[at]] === key) {
      return cachedText(texts, profile, at);
    }
  }
  return '';
}

/**
 * For each node of a tree which of the values (by index) most of its samples have; values.length if none or another.
 * @param {import('./tree.mjs').Tree} tree @param {import('./tree.mjs').Group} group
 * @param {string} key @param {string[]} values @param {Float64Array[]} [kept] gets what each node has of each value
 */
export function dominantValues(tree, group, key, values, kept) {
  const { profile } = group.source, texts = new Map();
  const index = new Map(values.map((value, i) => [value, i]));
  const best = new Float64Array(tree.count), winner = new Uint8Array(tree.count).fill(values.length);
  const ofSample = Uint8Array.from({ length: profile.sampleCount }, (_, sample) =>
    index.get(valueOf(profile, sample, key, texts)) ?? values.length);
  for (let value = 0; value <= values.length; value++) {
    const sums = new Float64Array(tree.count);
    ofSample.forEach((own, sample) => {
      if (own === value) {
        sums[tree.leafOf[0][sample]] += Math.abs(Number(group.values[sample]));
      }
    });
    for (let node = tree.count - 1; node >= 0; node--) {
      if (node) {
        sums[tree.parent[node]] += sums[node];
      }
      if (sums[node] > best[node]) {
        best[node] = sums[node];
        winner[node] = value;
      }
    }
    kept?.push(sums);
  }
  return winner;
}
