// SPDX-License-Identifier: MIT
//
// tree.mjs: the call tree, which a flame graph shows.
//
//   samples -> trie, one level after the other -> the same nodes, sorted by row
//
// All samples go down by one frame at a time. Those in a node that is too narrow to be seen stop there: a profile of a
// million different stacks has millions of nodes, of which a screen shows some thousands. When the reader zooms into a
// node, the tree is built again, with more of what is beneath that node.
//
// The sorted nodes of a row are consecutive, from left to right, and so are the children of a node. `x` says where a
// node begins, in units of `width`. A drawing then is a loop over a part of each row, and a node's number is its place.

import { asNumbers, sumsFor } from './columns.mjs';

/** Deeper stacks end in a pseudo-frame. Nobody looks at more rows, and a row costs memory. */
export const MAX_DEPTH = 4000;

/** Nodes below this part of the whole, or of the node that the reader zoomed to, are not followed further. */
const LEAST = 1 / 12000;

/**
 * One of at most two groups of samples: the profile, and the one that it is compared with.
 * @typedef {object} Group
 * @property {import('./frames.mjs').Source} source
 * @property {import('./columns.mjs').Values} values
 * @property {Uint8Array|null} mask   samples with 0 are left out
 * @property {Map<string, number>} [costs]   what a filter did to the stacks ("merge =NAME")
 *
 * How a sample becomes a path: from the root to the leaf, from the leaf to the root, or what is beneath or above the
 * outermost occurrence of the frame `pivot`.
 * @typedef {'roots'|'leaves'|'callees'|'callers'} Direction
 *
 * @typedef {object} Request
 * @property {number} deeper           the frame that ends paths of more than MAX_DEPTH frames
 * @property {Direction} [direction]
 * @property {number} [pivot]
 * @property {number[]} [within]       the frames of the path to the node that the reader zoomed to
 *
 * @typedef {object} Tree
 * @property {number} count            node 0 is the root, which has no frame
 * @property {boolean} partial         some nodes were not followed
 * @property {Int32Array} frame @property {Int32Array} parent
 * @property {Uint32Array} childBegin  and the children of node i end where those of i + 1 begin
 * @property {Uint32Array} rowBegin    of each depth; the last is `count`
 * @property {Float64Array} x @property {Float64Array} width
 * @property {Float64Array} self @property {Float64Array} total          of the profile
 * @property {Float64Array|null} baseSelf @property {Float64Array|null} baseTotal   of the one to compare with
 * @property {Uint32Array[]} leafOf    for each group and sample, the last node of its path; 0: none
 */

/** A trie of paths. Its table of children is open and at most half full. */
export class Trie {
  constructor() {
    this.frame = new Int32Array(4096);
    this.parent = new Int32Array(4096);
    this.width = new Float64Array(4096);
    this.slots = new Int32Array(16384);
    this.frame[0] = -1;
    this.parent[0] = -1;
    this.count = 1;
  }

  /** The child of a node for a frame, which is made if need be. @param {number} parent @param {number} frame */
  child(parent, frame) {
    const { slots } = this, mask = slots.length - 1;
    let at = slotOf(parent, frame) & mask;
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
      this.width = doubled(this.width);
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
      let at = slotOf(this.parent[node], this.frame[node]) & mask;
      while (slots[at]) {
        at = (at + 1) & mask;
      }
      slots[at] = node;
    }
    this.slots = slots;
  }
}

/** @param {number} parent @param {number} frame */
function slotOf(parent, frame) {
  const mixed = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

/** A copy with room for as much again. @param {any} column */
export function doubled(column) {
  const larger = new column.constructor(column.length * 2);
  larger.set(column);
  return larger;
}

/**
 * The samples of a group on their way. Of each: the node that it is in, and the frame that comes next, as a place on
 * its stack and a place among the frames of that location.
 */
class March {
  /** @param {Group} group @param {Direction} direction @param {number} pivot */
  constructor(group, direction, pivot) {
    const count = group.source.profile.sampleCount;
    this.group = group;
    this.upwards = direction === 'leaves' || direction === 'callers';
    this.node = new Uint32Array(count);
    this.ended = new Uint8Array(count);
    this.place = new Uint32Array(count);
    this.frame = new Uint32Array(count);
    this.active = new Uint32Array(count);
    this.length = 0;
    this.width = 0;
    const { mask, values } = group;
    for (let sample = 0; sample < count; sample++) {
      if ((!mask || mask[sample]) && this.begin(sample, direction, pivot)) {
        this.active[this.length++] = sample;
        this.width += Math.abs(Number(values[sample]));
      }
    }
  }

  /** Puts a sample at the beginning of its path; false if it has none. */
  begin(sample, direction, pivot) {
    const { stackFirst, first, profile: { stack, stackEnd } } = this.group.source;
    const low = stackFirst[sample], high = stackEnd[sample];
    if (direction === 'callees' || direction === 'callers') {
      return this.findPivot(sample, pivot);
    }
    // A stack without frames belongs to the root.
    this.ended[sample] = low >= high ? 1 : 0;
    if (low >= high) {
      return false;
    }
    this.place[sample] = this.upwards ? low : high - 1;
    this.frame[sample] = this.upwards ? first[stack[low]] : first[stack[high - 1] + 1] - 1;
    return true;
  }

  /** Puts a sample at the outermost occurrence of a frame. */
  findPivot(sample, pivot) {
    const { stackFirst, first, ofLine, profile: { stack, stackEnd } } = this.group.source;
    for (let place = stackEnd[sample]; place-- > stackFirst[sample];) {
      for (let at = first[stack[place] + 1]; at-- > first[stack[place]];) {
        if (ofLine[at] === pivot) {
          this.place[sample] = place;
          this.frame[sample] = at;
          return true;
        }
      }
    }
    return false;
  }

  /** Moves all samples by one frame. @param {Trie} trie */
  step(trie) {
    const { active, length, node, ended, frame, place, upwards, group: { values, source } } = this;
    const { ofLine, first, stackFirst, profile: { stack, stackEnd } } = source;
    let lastParent = -1, lastFrame = -1, child = 0;
    for (let i = 0; i < length; i++) {
      const sample = active[i], parent = node[sample], at = frame[sample];
      if (parent !== lastParent || ofLine[at] !== lastFrame) {
        lastParent = parent;
        lastFrame = ofLine[at];
        child = trie.child(parent, lastFrame);
      }
      node[sample] = child;
      trie.width[child] += Math.abs(Number(values[sample]));
      const here = place[sample], location = stack[here];
      if (upwards ? at + 1 < first[location + 1] : at > first[location]) {
        frame[sample] = upwards ? at + 1 : at - 1;
        continue;
      }
      const next = upwards ? here + 1 : here - 1;
      if (upwards ? next < stackEnd[sample] : next >= stackFirst[sample]) {
        place[sample] = next;
        frame[sample] = upwards ? first[stack[next]] : first[stack[next] + 1] - 1;
      } else {
        ended[sample] = 1;
      }
    }
  }

  /**
   * Keeps the samples that go on. Returns whether any stops before its end.
   * @param {Uint8Array} followed for each node of this level @param {number} first the first of these nodes
   */
  filter(followed, first) {
    const { active, node, ended, length } = this;
    let kept = 0, goOn = 0;
    for (let i = 0; i < length; i++) {
      const sample = active[i];
      if (!ended[sample]) {
        goOn++;
        active[kept] = sample;
        kept += followed[node[sample] - first];
      }
    }
    this.length = kept;
    return kept < goOn;
  }

  /** Ends what is still on its way in a pseudo-frame. @param {Trie} trie @param {number} deeper */
  cut(trie, deeper) {
    for (let i = 0; i < this.length; i++) {
      const sample = this.active[i];
      this.node[sample] = trie.child(this.node[sample], deeper);
      trie.width[this.node[sample]] += Math.abs(Number(this.group.values[sample]));
      this.ended[sample] = 1;
    }
    this.length = 0;
  }
}

/** Says which nodes are followed. Nodes beneath the one that the reader zoomed to may be narrower than others. */
class Limit {
  /** @param {Trie} trie @param {number} whole @param {number[]} within */
  constructor(trie, whole, within) {
    this.trie = trie;
    this.coarse = whole * LEAST;
    this.fine = this.coarse;
    this.within = within;
    /** the last node of the path that was reached */
    this.on = 0;
    this.depth = 0;
    /** nodes beneath the zoomed one */
    this.inside = new Set();
  }

  /** Looks for the path's node of the next level. */
  next() {
    const { trie, within } = this;
    if (this.depth < within.length) {
      const frame = within[this.depth++];
      this.on = trie.child(this.on, frame);
      if (this.depth === within.length) {
        this.fine = trie.width[this.on] * LEAST;
        this.inside.add(this.on);
      }
    }
  }

  /** @param {number} node */
  follows(node) {
    const { trie, inside } = this;
    if (inside.size && (inside.has(node) || inside.has(trie.parent[node]))) {
      inside.add(node);
      return trie.width[node] >= this.fine;
    }
    return node === this.on || trie.width[node] >= this.coarse;
  }
}

/** Sends all samples down the trie. Returns whether any stopped before its end. */
function march(marches, trie, limit, deeper) {
  let partial = false;
  for (let depth = 0; marches.some((one) => one.length); depth++) {
    if (depth === MAX_DEPTH) {
      marches.forEach((one) => one.cut(trie, deeper));
      break;
    }
    const first = trie.count;
    marches.forEach((one) => one.step(trie));
    limit.next();
    const followed = Uint8Array.from({ length: trie.count - first }, (_, i) => (limit.follows(first + i) ? 1 : 0));
    for (const one of marches) {
      partial = one.filter(followed, first) || partial;
    }
  }
  return partial;
}

/** Adds up the values of the samples by the last node of their paths. @param {Trie} trie @param {March} march */
function sumsByNode(trie, { group: { values, mask }, node, ended }, onlyEnded) {
  const sums = sumsFor(values, trie.count);
  for (let sample = 0; sample < node.length; sample++) {
    const counts = onlyEnded ? ended[sample] : node[sample] || ended[sample];
    if (counts && (!mask || mask[sample])) {
      sums[node[sample]] += values[sample];
    }
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

/** The widths of the root's children and of stacks without frames. @param {Trie} trie @param {March[]} marches */
function setRootWidth(trie, marches) {
  trie.width[0] = 0;
  for (let node = 1; node < trie.count; node++) {
    trie.width[0] += trie.parent[node] === 0 ? trie.width[node] : 0;
  }
  for (const { node, ended, group } of marches) {
    ended.forEach((over, sample) => {
      trie.width[0] += over && !node[sample] ? Math.abs(Number(group.values[sample])) : 0;
    });
  }
}

/** @param {Trie} trie @param {March[]} marches @param {boolean} partial @returns {Tree} */
function arrangeTree(trie, marches, partial) {
  const { order, childBegin, rowBegin } = sortByRow(trie, trie.width);
  const placeOf = new Uint32Array(trie.count);
  order.forEach((node, place) => { placeOf[node] = place; });
  const parent = Int32Array.from(order, (node) => (node ? placeOf[trie.parent[node]] : -1));
  const width = arrange(trie.width, order);
  const self = marches.map((one) => arrange(asNumbers(sumsByNode(trie, one, true)), order));
  const total = marches.map((one) => arrange(asNumbers(addUp(sumsByNode(trie, one, false), trie)), order));
  return {
    count: trie.count, partial, frame: Int32Array.from(order, (node) => trie.frame[node]), parent, childBegin, rowBegin,
    x: placeNodes(parent, width, childBegin), width,
    self: self[0], total: total[0], baseSelf: self[1] || null, baseTotal: total[1] || null,
    leafOf: marches.map((one) => one.node.map((node) => placeOf[node])),
  };
}

/** Builds a tree of one or two groups. @param {Group[]} groups @param {Request} request @returns {Tree} */
export function buildTree(groups, { deeper, direction = 'roots', pivot = -1, within = [] }) {
  const trie = new Trie();
  const marches = groups.map((group) => new March(group, direction, pivot));
  const whole = marches.reduce((sum, one) => sum + one.width, 0);
  const partial = march(marches, trie, new Limit(trie, whole, within), deeper);
  setRootWidth(trie, marches);
  return arrangeTree(trie, marches, partial);
}

/** The path of a node, its frames from the outermost on. @param {Tree} tree @param {number} node */
export function pathOf(tree, node) {
  const path = [];
  for (let at = node; at > 0; at = tree.parent[at]) {
    path.push(tree.frame[at]);
  }
  return path.reverse();
}

/** The node to which a path of frames leads; frames that are not there are passed over. @param {Tree} tree @param {number[]} path */
export function nodeByFrames(tree, path) {
  let node = 0;
  for (const frame of path) {
    const at = tree.frame.subarray(tree.childBegin[node], tree.childBegin[node + 1]).indexOf(frame);
    node = at < 0 ? node : tree.childBegin[node] + at;
  }
  return node;
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

/**
 * The place of a node as its rank among its siblings at each depth, "0*12.3.1": it stays the same when the tree gets
 * more nodes. "*12" stands for twelve times the same rank.
 * @param {Tree} tree @param {number} node
 */
export function rankPath(tree, node) {
  const ranks = [];
  for (let at = node; at > 0; at = tree.parent[at]) {
    ranks.unshift(at - tree.childBegin[tree.parent[at]]);
  }
  const parts = [];
  for (let i = 0, end; i < ranks.length; i = end) {
    for (end = i + 1; ranks[end] === ranks[i];) {
      end++;
    }
    parts.push(end - i > 1 ? `${ranks[i]}*${end - i}` : String(ranks[i]));
  }
  return parts.join('.');
}

/** The node that a path of ranks leads to, or the last one that there is. @param {Tree} tree @param {string} path */
export function nodeByRanks(tree, path) {
  let node = 0;
  for (const part of path === '' ? [] : path.split('.')) {
    const [rank, times] = part.split('*').map(Number);
    for (let i = 0; i < Math.min(times || 1, MAX_DEPTH); i++) {
      const child = tree.childBegin[node] + rank;
      if (!(child < tree.childBegin[node + 1])) {
        return node;
      }
      node = child;
    }
  }
  return node;
}
