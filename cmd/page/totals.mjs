// SPDX-License-Identifier: MIT
//
// totals.mjs: what each frame, each call and each line costs.
//
//   flat   samples in which the frame is the leaf
//   cum    samples in which the frame occurs, each counted once even if the frame recurses
//   edge   samples in which one frame calls the other, each counted once
//
// The sums are taken over samples, not over the tree, so that they are those of `cpprof top` for stacks of any depth.

import { asNumbers, sumsFor } from './columns.mjs';
import { NONE } from './decode.mjs';
import { Stack } from './frames.mjs';
import { doubled, Trie } from './tree.mjs';

/** @typedef {{flat: Float64Array, cum: Float64Array}} Totals */

/** Flat and cum of each frame. @param {import('./tree.mjs').Group} group @param {number} frameCount @returns {Totals} */
export function frameTotals({ source, values, mask }, frameCount) {
  const flat = sumsFor(values, frameCount), cum = sumsFor(values, frameCount);
  const seen = new Uint32Array(frameCount), stack = new Stack();
  for (let sample = 0; sample < source.profile.sampleCount; sample++) {
    if (mask && !mask[sample]) {
      continue;
    }
    stack.fill(source, sample);
    const { frames, length } = stack, value = values[sample];
    for (let i = 0; i < length; i++) {
      const frame = frames[i];
      if (seen[frame] !== sample + 1) {
        seen[frame] = sample + 1;
        cum[frame] += value;
      }
    }
    if (length) {
      flat[frames[length - 1]] += value;
    }
  }
  return { flat: asNumbers(flat), cum: asNumbers(cum) };
}

/** Flat alone, which takes one look at each sample. @param {import('./tree.mjs').Group} group @param {number} frameCount */
export function flatTotals({ source, values, mask }, frameCount) {
  const { stackFirst, first, ofLine, profile: { stack, stackEnd, sampleCount } } = source;
  const flat = sumsFor(values, frameCount);
  for (let sample = 0; sample < sampleCount; sample++) {
    if (stackFirst[sample] < stackEnd[sample] && (!mask || mask[sample])) {
      flat[ofLine[first[stack[stackFirst[sample]]]]] += values[sample];
    }
  }
  return asNumbers(flat);
}

/** @typedef {{from: number, to: number, weight: number}} Edge */

/** The calls between different frames. @param {import('./tree.mjs').Group} group @returns {Edge[]} */
export function callEdges({ source, values, mask }) {
  const pairs = new Trie(), stack = new Stack();
  let seen = new Uint32Array(4096);
  for (let sample = 0; sample < source.profile.sampleCount; sample++) {
    if (mask && !mask[sample]) {
      continue;
    }
    stack.fill(source, sample);
    const { frames, length } = stack, value = Number(values[sample]);
    for (let i = 1; i < length; i++) {
      const pair = frames[i - 1] === frames[i] ? 0 : pairs.child(frames[i - 1], frames[i]);
      if (pair >= seen.length) {
        seen = doubled(seen);
      }
      if (pair && seen[pair] !== sample + 1) {
        seen[pair] = sample + 1;
        pairs.width[pair] += value;
      }
    }
  }
  return Array.from({ length: pairs.count - 1 }, (_, i) =>
    ({ from: pairs.parent[i + 1], to: pairs.frame[i + 1], weight: pairs.width[i + 1] }));
}

/**
 * The costs of the lines of a source file: a map from line numbers to flat and cum.
 * @param {import('./tree.mjs').Group} group @param {string} file
 * @returns {Map<number, {flat: number, cum: number}>}
 */
export function lineTotals({ source, values, mask }, file) {
  const { profile, first, lineAt, stackFirst } = source;
  const lines = new Map();
  const seen = new Map();
  for (let sample = 0; sample < profile.sampleCount; sample++) {
    if (mask && !mask[sample]) {
      continue;
    }
    const value = Number(values[sample]);
    for (let i = stackFirst[sample]; i < profile.stackEnd[sample]; i++) {
      const location = profile.stack[i];
      for (let at = first[location]; at < first[location + 1]; at++) {
        const number = lineIn(profile, lineAt[at], file);
        if (number < 0) {
          continue;
        }
        const line = lines.get(number) || { flat: 0, cum: 0 };
        lines.set(number, line);
        line.flat += i === stackFirst[sample] && at === first[location] ? value : 0;
        line.cum += seen.get(number) === sample ? 0 : value;
        seen.set(number, sample);
      }
    }
  }
  return lines;
}

/** The number of a line if it is in the file, else -1. */
function lineIn(profile, line, file) {
  if (line === NONE) {
    return -1;
  }
  const inFile = profile.strings[profile.functionFile[profile.lineFunction[line]]] === file;
  return inFile && profile.lineNumber[line] > 0 ? profile.lineNumber[line] : -1;
}
