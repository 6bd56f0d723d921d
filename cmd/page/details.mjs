// SPDX-License-Identifier: MIT
//
// details.mjs: the bar at the bottom, which says what the frame under the pointer or the selected one is and costs.

import { byId, el } from './dom.mjs';
import { label, percent } from './format.mjs';

/** @param {number} value @param {number} total @param {string} unit */
export function costText(value, total, unit) {
  return `${label(value, unit)} (${percent(value, total)})`;
}

/** A change as "+1.20s (+12.3%)". @param {number} now @param {number} before @param {string} unit */
export function changeText(now, before, unit) {
  const change = now - before;
  const sign = change > 0 ? '+' : '';
  const share = before ? ` (${sign}${((change / Math.abs(before)) * 100).toFixed(1)}%)` : ' (new)';
  return `${sign}${label(change, unit)}${change ? share : ''}`;
}

/** @param {string} term @param {string} value */
function figure(term, value) {
  return el('span', { class: 'figure' }, el('span', { class: 'term', text: term }), el('b', { text: value }));
}

/**
 * @typedef {object} Detail
 * @property {string} title @property {string} place   the object file, the source file
 * @property {[string, string][]} figures
 */

/** @param {Detail} detail */
export function showDetail({ title, place, figures }) {
  byId('detail-title').textContent = byId('detail-title').title = title;
  byId('detail-place').textContent = byId('detail-place').title = place;
  byId('detail-figures').replaceChildren(...figures.map(([term, value]) => figure(term, value)));
}

/** What a node of a tree costs. @param {import('./tree.mjs').Tree} tree @param {number} node */
export function nodeFigures(tree, node, totals, unit) {
  const figures = /** @type {[string, string][]} */ ([
    ['total', costText(tree.total[node], totals[0], unit)],
    ['self', costText(tree.self[node], totals[0], unit)],
  ]);
  if (tree.baseTotal && tree.baseSelf) {
    figures.push(['before', costText(tree.baseTotal[node], totals[1], unit)]);
    figures.push(['change', changeText(tree.total[node], tree.baseTotal[node], unit)]);
  } else if (node > 0 && tree.parent[node] > 0) {
    figures.push(['of its caller', percent(tree.width[node], tree.width[tree.parent[node]])]);
  }
  return figures;
}
