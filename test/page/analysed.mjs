// SPDX-License-Identifier: MIT
//
// analysed.mjs: what tests of the page's modules share.

import assert from 'node:assert/strict';

import { Analysis } from '../../cmd/page/analysis.mjs';
import { decodeProfile } from '../../cmd/page/decode.mjs';
import { defaultState } from '../../cmd/page/state.mjs';

export function analyse(profile, base = null) {
  return new Analysis(decodeProfile(new Uint8Array(profile)), base && decodeProfile(new Uint8Array(base)));
}

export function stateWith(changes = {}) {
  return { ...defaultState(), ...changes };
}

/** A tree as nested text: "a:3/1(b:2/2)", with total and self, children by falling width. */
export function treeText(analysis, tree, node = 0) {
  const children = [];
  for (let child = tree.childBegin[node]; child < tree.childBegin[node + 1]; child++) {
    children.push(treeText(analysis, tree, child));
  }
  const label = node ? analysis.frames.labels[tree.frame[node]] : 'all';
  const inner = children.length ? `(${children.join(' ')})` : '';
  return `${label}:${tree.total[node]}/${tree.self[node]}${inner}`;
}

/** Flat and cum by name. */
export function costs(analysis, state = stateWith()) {
  const [own] = analysis.frameTotals(state);
  assert.deepEqual(analysis.flat(state), own.flat);
  return Object.fromEntries(analysis.ranked(state, 'cum').map((frame) =>
    [analysis.frames.labels[frame], [own.flat[frame], own.cum[frame]]]));
}
