// SPDX-License-Identifier: MIT
//
// analysis.mjs: everything that is computed of one profile, or of two that are compared, and kept until it changes.

import { totalOf } from './columns.mjs';
import { sampleMask } from './filter.mjs';
import { addSource, Frames } from './frames.mjs';
import { labelKeys } from './labels.mjs';
import { changeStacks } from './stack_changes.mjs';
import { callEdges, flatTotals, frameTotals } from './totals.mjs';
import { buildTree, nodeByRanks, pathOf } from './tree.mjs';

/** Results by what they depend on; those give way that were not wanted for longest. */
class Cache {
  constructor() {
    this.entries = new Map();
  }

  /** @param {string} key @param {() => any} make */
  get(key, make) {
    const result = this.entries.has(key) ? this.entries.get(key) : make();
    this.entries.delete(key);
    this.entries.set(key, result);
    if (this.entries.size > 16) {
      this.entries.delete(this.entries.keys().next().value);
    }
    return result;
  }
}

/** @param {import('./decode.mjs').Profile} profile @param {import('./decode.mjs').Profile} base */
function refuseOtherTypes(profile, base) {
  const types = (one) => one.sampleTypes.map(({ type, unit }) => `${type}/${unit}`).join(', ');
  if (types(profile) !== types(base)) {
    throw new Error(`expected two profiles with the same sample types, found ${types(profile)} and ${types(base)}`);
  }
}

export class Analysis {
  /** @param {import('./decode.mjs').Profile} profile @param {import('./decode.mjs').Profile|null} base */
  constructor(profile, base) {
    if (profile.sampleTypes.length === 0) {
      throw new Error('expected a profile with sample types, found none: the profile is empty');
    }
    if (base) {
      refuseOtherTypes(profile, base);
    }
    this.profile = profile;
    this.base = base;
    this.frames = new Frames();
    this.deeper = this.frames.put('deeper', '[deeper frames]', '');
    this.sources = [profile, base].filter((one) => one !== null).map((one) => addSource(this.frames, one));
    this.cache = new Cache();
    /** @type {(() => void)|null} */
    this.later = null;
    this.labelKeys = labelKeys(profile);
  }

  /** The index of a sample type by its name; the profile's own choice for ''. @param {string} name */
  typeIndex(name) {
    const { sampleTypes, defaultType } = this.profile;
    const index = sampleTypes.findIndex(({ type }) => type === (name || defaultType));
    return index >= 0 ? index : sampleTypes.length - 1;
  }

  /** The key for results that depend on samples. @param {import('./state.mjs').State} state */
  key(state) {
    const { type, filters, normalize } = state;
    return JSON.stringify([type, filters, normalize]);
  }

  /** The samples that count. Changed stacks are large: only the last ones are kept. @returns {import('./tree.mjs').Group[]} */
  groups(/** @type {import('./state.mjs').State} */ state) {
    const key = this.key(state), { filters } = state;
    if (key !== this.groupsKey) {
      const index = this.typeIndex(state.type);
      this.lastGroups = [];
      this.lastGroups = this.sources.map((source, i) => changeStacks({
        source, values: i && state.normalize ? this.scaled(index) : source.profile.values[index],
        mask: sampleMask(source, this.frames, filters),
      }, this.frames, filters));
      this.groupsKey = key;
    }
    return this.lastGroups;
  }

  /** The values of the base, as if its total were that of the profile. @param {number} index */
  scaled(index) {
    const values = this.sources[1].profile.values[index];
    const own = totalOf(values), wanted = totalOf(this.profile.values[index]);
    const ratio = own ? wanted / own : 1;
    return Float64Array.from(/** @type {any} */ (values), (value) => Number(value) * ratio);
  }

  /** The sums of absolute values before any filter, of the profile and of the base. */
  totals(state) {
    return this.cache.get(`totals ${state.type} ${state.normalize}`, () => {
      const index = this.typeIndex(state.type);
      return this.sources.map((source, i) =>
        totalOf(i && state.normalize ? this.scaled(index) : source.profile.values[index]));
    });
  }

  /**
   * The tree of all samples. Where it leaves out what is too narrow to be seen, it has more of that beneath the node
   * that the reader zoomed to. That takes seconds with millions of samples: while there is `later`, it is called instead,
   * and the tree is the best that is there.
   * @param {import('./state.mjs').State} state @returns {import('./tree.mjs').Tree}
   */
  tree(state) {
    let tree = this.treeWithin(state, []);
    for (let length = 0; tree.partial && state.zoom;) {
      const within = pathOf(tree, nodeByRanks(tree, state.zoom));
      if (within.length <= length) {
        break;
      }
      if (this.later && !this.cache.entries.has(this.treeKey(state, within))) {
        this.later();
        break;
      }
      tree = this.treeWithin(state, within);
      ({ length } = within);
    }
    return tree;
  }

  /** @param {import('./state.mjs').State} state @param {number[]} within @returns {import('./tree.mjs').Tree} */
  treeWithin(state, within) {
    const direction = state.order === 'up' ? 'leaves' : 'roots';
    return this.cache.get(this.treeKey(state, within), () =>
      buildTree(this.groups(state), { deeper: this.deeper, direction, within }));
  }

  treeKey(state, within) {
    return `tree ${state.order} ${within} ${this.key(state)}`;
  }

  /** The tree above ('callers') or beneath ('callees') a frame. */
  around(state, frame, direction) {
    return this.cache.get(`${direction} ${frame} ${this.key(state)}`, () =>
      buildTree(this.groups(state), { deeper: this.deeper, direction, pivot: frame }));
  }

  /** Flat and cum of each frame, for the profile and for the base. @returns {import('./totals.mjs').Totals[]} */
  frameTotals(state) {
    return this.cache.get(`frames ${this.key(state)}`, () =>
      this.groups(state).map((group) => frameTotals(group, this.frames.count)));
  }

  /** Flat of each frame. @returns {Float64Array} */
  flat(state) {
    return this.cache.get(`flat ${this.key(state)}`, () => flatTotals(this.groups(state)[0], this.frames.count));
  }

  /** @returns {import('./totals.mjs').Edge[]} */
  edges(state) {
    return this.cache.get(`edges ${this.key(state)}`, () => callEdges(this.groups(state)[0]));
  }

  /** The frames that cost anything, by falling flat or cum. */
  ranked(state, column) {
    return this.cache.get(`rank ${column} ${this.key(state)}`, () => {
      const [own, base] = this.frameTotals(state), { labels } = this.frames;
      const cost = base ? own[column].map((value, i) => value - base[column][i]) : own[column];
      return [...labels.keys()]
        .filter((frame) => own.cum[frame] || own.flat[frame] || (base && base.cum[frame]))
        .sort((a, b) => Math.abs(cost[b]) - Math.abs(cost[a]) || (labels[a] < labels[b] ? -1 : 1));
    });
  }

  /** Heap, lock and thread profiles are sorted by cum: their leaf is the function that allocates or waits. */
  usualSort() {
    const { type } = this.profile.sampleTypes[this.typeIndex('')];
    return /^(cpu|samples?|wall|alloc_samples)$/.test(type) ? 'flat' : 'cum';
  }
}
