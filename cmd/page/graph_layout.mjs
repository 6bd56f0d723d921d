// SPDX-License-Identifier: MIT
//
// graph_layout.mjs: which functions a call graph around one function shows, and where.
//
//   level  -2        -1       0       +1        +2
//          callers of callers the function  callees of callees
//
// A function has one place, on the level where it is met first; of each level those are shown whose calls cost most.

/**
 * @typedef {{frame: number, level: number, weight: number, order: number}} Placed
 * @typedef {{nodes: Placed[], edges: import('./totals.mjs').Edge[], hidden: Map<number, number>}} Layout
 */

/** Edges by the frame at one end. @param {import('./totals.mjs').Edge[]} edges @param {'from'|'to'} end */
function index(edges, end) {
  const lists = new Map();
  for (const edge of edges) {
    const list = lists.get(edge[end]);
    if (list) {
      list.push(edge);
    } else {
      lists.set(edge[end], [edge]);
    }
  }
  return lists;
}

/** The frames one level further, with what their calls cost. */
function candidates(level, lists, far, placed) {
  const weights = new Map();
  for (const frame of level) {
    for (const edge of lists.get(frame) || []) {
      if (!placed.has(edge[far])) {
        weights.set(edge[far], (weights.get(edge[far]) || 0) + edge.weight);
      }
    }
  }
  return [...weights].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

/**
 * @param {import('./totals.mjs').Edge[]} edges @param {number} subject @param {number} reach levels to each side
 * @param {number} most functions of a level
 * @returns {Layout}
 */
export function layoutGraph(edges, subject, reach, most) {
  const placed = new Map([[subject, { frame: subject, level: 0, weight: 0, order: 0 }]]);
  const hidden = new Map();
  for (const [near, far, step] of /** @type {const} */ ([['to', 'from', -1], ['from', 'to', 1]])) {
    const lists = index(edges, near);
    let level = [subject];
    for (let distance = 1; distance <= reach; distance++) {
      const found = candidates(level, lists, far, placed);
      hidden.set(step * distance, Math.max(0, found.length - most));
      level = found.slice(0, most).map(([frame, weight], order) => {
        placed.set(frame, { frame, level: step * distance, weight, order });
        return frame;
      });
    }
  }
  const shown = edges.filter(({ from, to }) => placed.has(from) && placed.has(to));
  return { nodes: [...placed.values()], edges: shown, hidden };
}
