// SPDX-License-Identifier: MIT
//
// stack_changes.mjs: stacks without the frames that the reader hides. The samples stay, and what each is worth: its leaf
// may be another frame then, or the root of all.
//
//   main a b c b d   merge b: main a c d       collapse b: main a b
//                    root b: b c b d           recursion of b: main a b d
//
// Sources share all that stays the same. A changed one has a location for each frame, so that any frame of a location
// that has several, which were inlined, may go.

import { Stack } from './frames.mjs';
import { compileFilter, matchFrames } from './search.mjs';

/**
 * Each gets a stack, the root first, how many frames it has, and a function that says whether one is meant; says how many
 * frames are left. -1: the sample does not count.
 * @type {Record<string, (stack: Uint32Array, length: number, isMeant: (at: number) => boolean, ofLine: Uint32Array) => number>}
 */
const CHANGES = {
  merge(stack, length, isMeant) {
    let kept = 0;
    for (let i = 0; i < length; i++) {
      if (!isMeant(stack[i])) {
        stack[kept++] = stack[i];
      }
    }
    return kept;
  },
  collapse(stack, length, isMeant) {
    const at = stack.subarray(0, length).findIndex(isMeant);
    return at < 0 ? length : at + 1;
  },
  root(stack, length, isMeant) {
    const at = stack.subarray(0, length).findIndex(isMeant);
    stack.copyWithin(0, Math.max(at, 0), length);
    return at < 0 ? -1 : length - at;
  },
  /** The innermost call stays: its line is the one that calls what follows. */
  recursion(stack, length, isMeant, ofLine) {
    let kept = 0;
    for (let i = 0; i < length; i++) {
      if (isMeant(stack[i])) {
        let outer = kept;
        while (outer-- > 0 && ofLine[stack[outer]] !== ofLine[stack[i]]);
        kept = outer >= 0 ? outer : kept;
      }
      stack[kept++] = stack[i];
    }
    return kept;
  },
};

/** What to do with each stack. @param {import('./frames.mjs').Frames} frames @param {[string, string][]} filters */
function compileChanges(frames, ofLine, filters) {
  return filters.filter(([kind, text]) => Object.hasOwn(CHANGES, kind) && compileFilter(text)).map(([kind, text]) => {
    const meant = matchFrames(frames, /** @type {any} */ (compileFilter(text)));
    return { change: CHANGES[kind], isMeant: (/** @type {number} */ at) => meant[ofLine[at]] === 1, cost: 0, filter: `${kind} ${text}` };
  });
}

/** How many frames all stacks have. @param {import('./frames.mjs').Source} source */
function countFrames({ profile: { stack, stackEnd, sampleCount }, stackFirst, first }) {
  let count = 0;
  for (let sample = 0; sample < sampleCount; sample++) {
    for (let at = stackFirst[sample]; at < stackEnd[sample]; at++) {
      count += first[stack[at] + 1] - first[stack[at]];
    }
  }
  return count;
}

/**
 * Changes the stacks of a group as the filters say. `costs` has for each filter what the samples are worth whose stacks
 * it made shorter, or that it left out.
 * @param {import('./tree.mjs').Group} group @param {import('./frames.mjs').Frames} frames
 * @param {[string, string][]} filters
 */
export function changeStacks(group, frames, filters) {
  const { source, values } = group, { profile, ofLine } = source, count = profile.sampleCount;
  const changes = compileChanges(frames, ofLine, filters);
  if (!changes.length) {
    return group;
  }
  let { mask } = group;
  const own = { ...source, ofLine: Uint32Array.from(ofLine.keys()) }, path = new Stack();
  const stack = new Uint32Array(countFrames(source)), stackFirst = new Uint32Array(count), stackEnd = new Uint32Array(count);
  for (let sample = 0, end = 0; sample < count; sample++) {
    path.fill(own, sample);
    let { length } = path;
    for (const one of mask && !mask[sample] ? [] : changes) {
      const left = one.change(path.frames, length, one.isMeant, ofLine);
      one.cost += left === length ? 0 : Math.abs(Number(values[sample]));
      length = left;
      if (left < 0) {
        mask ||= new Uint8Array(count).fill(1);
        mask[sample] = 0;
        break;
      }
    }
    stackFirst[sample] = end;
    for (let i = length; i-- > 0;) {
      stack[end++] = path.frames[i];
    }
    stackEnd[sample] = end;
  }
  return {
    values, mask, costs: new Map(changes.map(({ filter, cost }) => [filter, cost])), source: {
      ...source, first: Uint32Array.from({ length: ofLine.length + 1 }, (_, at) => at), stackFirst,
      profile: { ...profile, stack, stackEnd, locationCount: ofLine.length },
    },
  };
}
