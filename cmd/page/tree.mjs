// SPDX-License-Identifier: MIT
//
// tree.mjs: the call tree, which a flame graph shows.
//
//   samples -> paths of frames -> trie in order of arrival -> the same nodes, sorted by row
//
// The sorted nodes of a row are consecutive, from left to right, and so are the children of a node. `x` says where a
// node begins, in units of `width`. A drawing then is a loop over a part of each row, and a node's number is its place.

import { asNumbers, sumsFor } from './columns.mjs';
import { Stack } from './frames.mjs';

/** Deeper stacks end in a pseudo-frame. Nobody looks at more rows, and a row costs memory. */
export const MAX_DEPTH = 4000;

/**
 * One of at most two groups of samples: the profile, and the one that it is compared with.
 * @typedef {object} Group
 * @property {import('./frames.mjs').Source} source
 * @property {import('./columns.mjs').Values} values
 * @property {Uint8Array|null} mask   samples with 0 are left out
 *
 * How a sample becomes a path: from the root to the leaf, from the leaf to the root, or what is beneath or above the
 * outermost occurrence of the frame `pivot`.
 * @typedef {'roots'|'leaves'|'callees'|'callers'} Direction
 *
 * @typedef {object} Tree
 * @property {number} count            node 0 is the root, which has no frame
 * @property {Int32Array} frame @property {Int32Array} parent
 * @property {Uint32Array} childBegin  and the children of node i end where those of i + 1 begin
 * @property {Uint32Array} rowBegin    of each depth; the last is `count`
 * @property {Float64Array} x @property {Float64Array} width
 * @property {Float64Array} self @property {Float64Array} total          of the profile
 * @property {Float64Array|null} baseSelf @property {Float64Array|null} baseTotal   of the one to compare with
 * @property {Uint32Array[]} leafOf    for each group and sample, the node where its path ends; 0: none
 */

/** A trie of paths. Its table of children is open and at most half full. */
class Trie {
  constructor() {
    this.frame = new Int32Array(4096);
    this.parent = new Int32Array(4096);
    this.slots = new Int32Array(16384);
    this.frame[0] = -1;
    this.parent[0] = -1;
    this.count = 1;
  }

  /** The child of a node for a frame, which is made if need be. @param {number} parent @param {number} frame */
  child(parent, frame) {
    const { slots } = this, mask = slots.length - 1;
    let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b));
    at = (at ^ (at >>> 15)) & mask;
    for (let node = slots[at]; node; node = slots[at]) {
      if (this.parent[node] === parent && this.frame[node] === frame) {
        return node;
      }
      at = (at + 1) & mask;
    }
    return this.add(parent, frame, at);
  }

  /** @param {number} parent @param {number} frame @param {number} slot */
  add(parent, frame, slot) {
    if (this.count === this.frame.length) {
      this.frame = doubled(this.frame);
      this.parent = doubled(this.parent);
    }
    const node = this.count++;
    this.frame[node] = frame;
    this.parent[node] = parent;
    this.slots[slot] = node;
    if (this.count * 2 > this.slots.length) {
      this.rehash();
    }
    return node;
  }

  rehash() {
    const slots = new Int32Array(this.slots.length * 4), mask = slots.length - 1;
    for (let node = 1; node < this.count; node++) {
      let at = (Math.imul(this.parent[node], 0x9e3779b1) ^ Math.imul(this.frame[node], 0x85ebca6b));
      at = (at ^ (at >>> 15)) & mask;
      while (slots[at]) {
        at = (at + 1) & mask;
      }
      slots[at] = node;
    }
    this.slots = slots;
  }
}

/** @param {Int32Array} column */
function doubled(column) {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}

/** Walks paths into a trie; what a path has in common with the one before it is not looked up again. */
class Walker {
  /** @param {Trie} trie @param {Direction} direction @param {number} pivot @param {number} deeper a frame */
  constructor(trie, direction, pivot, deeper) {
    this.trie = trie;
    this.direction = direction;
    this.pivot = pivot;
    this.deeper = deeper;
    this.stack = new Stack();
    this.frames = new Int32Array(MAX_DEPTH + 1);
    this.nodes = new Int32Array(MAX_DEPTH + 1);
    this.depth = 0;
  }

  /** The node where the sample's path ends, or 0. @param {import('./frames.mjs').Source} source @param {number} sample */
  leaf(source, sample) {
    const { stack } = this;
    stack.fill(source, sample);
    let from = 0, to = stack.length;
    if (this.direction === 'callees' || this.direction === 'callers') {
      const occurrence = this.occurrence();
      if (occurrence < 0) {
        return 0;
      }
      from = this.direction === 'callees' ? occurrence : 0;
      to = this.direction === 'callees' ? to : occurrence + 1;
    }
    const upwards = this.direction === 'leaves' || this.direction === 'callers';
    return upwards ? this.walk(to - 1, -1, to - from) : this.walk(from, 1, to - from);
  }

  /** The outermost occurrence of the pivot. */
  occurrence() {
    const { frames, length } = this.stack;
    for (let i = 0; i < length; i++) {
      if (frames[i] === this.pivot) {
        return i;
      }
    }
    return -1;
  }

  /** @param {number} at @param {number} step @param {number} length */
  walk(at, step, length) {
    const { trie, frames, nodes } = this, source = this.stack.frames;
    const end = Math.min(length, MAX_DEPTH);
    let depth = 0;
    while (depth < end && depth < this.depth && frames[depth] === source[at]) {
      depth++;
      at += step;
    }
    let node = depth ? nodes[depth - 1] : 0;
    for (; depth < end; depth++, at += step) {
      node = trie.child(node, source[at]);
      frames[depth] = source[at];
      nodes[depth] = node;
    }
    this.depth = end;
    return length > end ? trie.child(node, this.deeper) : node;
  }
}

/** Adds up each node's own values. @param {Trie} trie @param {Group} group @param {Uint32Array} leafOf */
function ownSums(trie, group, leafOf) {
  const sums = sumsFor(group.values, trie.count), { values } = group;
  for (let sample = 0; sample < leafOf.length; sample++) {
    sums[leafOf[sample]] += values[sample];
  }
  return sums;
}

/** The absolute values, for widths. @param {Trie} trie @param {Group} group @param {Uint32Array} leafOf */
function ownWidths(trie, group, leafOf) {
  const sums = new Float64Array(trie.count), { values } = group;
  for (let sample = 0; sample < leafOf.length; sample++) {
    sums[leafOf[sample]] += Math.abs(Number(values[sample]));
  }
  return sums;
}

/** Adds to each node what its descendants have. @param {any} sums @param {Trie} trie */
function addUp(sums, trie) {
  for (let node = trie.count - 1; node > 0; node--) {
    sums[trie.parent[node]] += sums[node];
  }
  return sums;
}

/** Lists of children: the first one of each node, and the next one of each child. @param {Trie} trie */
function listChildren(trie) {
  const firstChild = new Int32Array(trie.count), next = new Int32Array(trie.count);
  for (let node = trie.count - 1; node > 0; node--) {
    next[node] = firstChild[trie.parent[node]];
    firstChild[trie.parent[node]] = node;
  }
  return { firstChild, next };
}

/** Puts the nodes into rows, each node's children by falling width. @param {Trie} trie @param {Float64Array} width */
function sortByRow(trie, width) {
  const { firstChild, next } = listChildren(trie);
  const order = new Uint32Array(trie.count), childBegin = new Uint32Array(trie.count + 1);
  const rows = [0];
  /** @type {number[]} */
  const siblings = [];
  let length = 1;
  for (let at = 0, rowEnd = 1; at < length; at++) {
    if (at === rowEnd) {
      rows.push(at);
      rowEnd = length;
    }
    childBegin[at] = length;
    siblings.length = 0;
    for (let node = firstChild[order[at]]; node; node = next[node]) {
      siblings.push(node);
    }
    if (siblings.length > 1) {
      siblings.sort((a, b) => width[b] - width[a] || a - b);
    }
    for (const node of siblings) {
      order[length++] = node;
    }
  }
  childBegin[trie.count] = trie.count;
  rows.push(trie.count);
  return { order, childBegin, rowBegin: Uint32Array.from(rows) };
}

/** @param {Float64Array} column @param {Uint32Array} order */
function arrange(column, order) {
  const result = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) {
    result[i] = column[order[i]];
  }
  return result;
}

/** @param {Int32Array} parent @param {Float64Array} width @param {Uint32Array} childBegin */
function placeNodes(parent, width, childBegin) {
  const x = new Float64Array(parent.length);
  for (let node = 0; node < parent.length; node++) {
    let at = x[node];
    for (let child = childBegin[node]; child < childBegin[node + 1]; child++) {
      x[child] = at;
      at += width[child];
    }
  }
  return x;
}

/** @param {Trie} trie @param {Group[]} groups @param {Uint32Array[]} leafOf @returns {Tree} */
function arrangeTree(trie, groups, leafOf) {
  const widths = groups.map((group, i) => ownWidths(trie, group, leafOf[i]));
  const whole = widths[0];
  for (let node = 0; widths.length > 1 && node < trie.count; node++) {
    whole[node] += widths[1][node];
  }
  addUp(whole, trie);
  const { order, childBegin, rowBegin } = sortByRow(trie, whole);
  const placeOf = new Uint32Array(trie.count);
  order.forEach((node, place) => { placeOf[node] = place; });
  const frame = Int32Array.from(order, (node) => trie.frame[node]);
  const parent = Int32Array.from(order, (node) => (node ? placeOf[trie.parent[node]] : -1));
  const width = arrange(whole, order);
  const sums = groups.map((group, i) => {
    const own = ownSums(trie, group, leafOf[i]);
    return [arrange(asNumbers(own), order), arrange(asNumbers(addUp(own.slice(), trie)), order)];
  });
  for (const leaves of leafOf) {
    leaves.forEach((node, sample) => { leaves[sample] = placeOf[node]; });
  }
  return {
    count: trie.count, frame, parent, childBegin, rowBegin, x: placeNodes(parent, width, childBegin), width,
    self: sums[0][0], total: sums[0][1],
    baseSelf: sums[1] ? sums[1][0] : null, baseTotal: sums[1] ? sums[1][1] : null,
    leafOf,
  };
}

/**
 * Builds a tree of one or two groups. `deeper` is the frame that ends paths of more than MAX_DEPTH frames.
 * @param {Group[]} groups @param {number} deeper @param {Direction} direction @param {number} pivot
 * @returns {Tree}
 */
export function buildTree(groups, deeper, direction = 'roots', pivot = -1) {
  const trie = new Trie();
  const walker = new Walker(trie, direction, pivot, deeper);
  const leafOf = groups.map(({ source, mask }) => {
    const leaves = new Uint32Array(source.profile.sampleCount);
    for (let sample = 0; sample < leaves.length; sample++) {
      leaves[sample] = !mask || mask[sample] ? walker.leaf(source, sample) : 0;
    }
    return leaves;
  });
  return arrangeTree(trie, leavesOutside(groups, direction, leafOf), leafOf);
}

/** Samples that have no path count for nothing. @param {Group[]} groups @param {Direction} direction */
function leavesOutside(groups, direction, leafOf) {
  return groups.map((group, i) => {
    if (!group.mask && direction !== 'callees' && direction !== 'callers') {
      return group;
    }
    const values = group.values.slice();
    leafOf[i].forEach((node, sample) => {
      if (!node) {
        values.fill(/** @type {never} */ (values instanceof BigInt64Array ? 0n : 0), sample, sample + 1);
      }
    });
    return { ...group, values };
  });
}

/** The path of a node, its frames from the outermost on. @param {Tree} tree @param {number} node */
export function pathOf(tree, node) {
  const path = [];
  for (let at = node; at > 0; at = tree.parent[at]) {
    path.push(tree.frame[at]);
  }
  return path.reverse();
}

/** The depth of a node; the root's is 0. @param {Tree} tree @param {number} node */
export function depthOf(tree, node) {
  let low = 0, high = tree.rowBegin.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (tree.rowBegin[middle] <= node) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
