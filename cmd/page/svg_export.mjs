// SPDX-License-Identifier: MIT
//
// svg_export.mjs: the flame graph as an SVG, for reports and mails: what the canvas shows of the tree, whole rows.

import { themeColours } from './colours.mjs';
import { shorten } from './text.mjs';

const WIDTH = 1200;
const SVG_ROW = 18;
const MARGIN = 10;
const HEAD = 34;
/** As a part of the picture; narrower frames are left out. */
const NARROWEST = 0.0004;
const COLUMN = 6.6;

/** @param {string} text */
function escape(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
    // Characters that XML does not have.
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

/** The nodes beneath one that are wide enough, with their rows. */
function visible(tree, from, depth) {
  const found = [], least = tree.width[from] * NARROWEST;
  let row = [from];
  for (let level = depth; row.length; level++) {
    const next = [];
    for (const node of row) {
      if (tree.width[node] >= least) {
        found.push([node, level - depth]);
        for (let child = tree.childBegin[node]; child < tree.childBegin[node + 1]; child++) {
          next.push(child);
        }
      }
    }
    row = next;
  }
  return found;
}

/**
 * @param {object} picture
 * @param {import('./tree.mjs').Tree} picture.tree @param {number} picture.root the node that is as wide as the picture
 * @param {(node: number) => string} picture.fill @param {(node: number) => string} picture.label
 * @param {(node: number) => string} picture.cost @param {string} picture.title
 * @param {boolean} picture.upwards @param {boolean} picture.dark
 */
export function flameSvg({ tree, root, fill, label, cost, title, upwards, dark }) {
  const nodes = visible(tree, root, 0), colours = themeColours(dark);
  const rows = nodes.reduce((most, [, row]) => Math.max(most, row), 0) + 1;
  const height = HEAD + rows * SVG_ROW + MARGIN;
  const scale = (WIDTH - 2 * MARGIN) / (tree.width[root] || 1);
  const frames = nodes.map(([node, row]) => {
    const x = MARGIN + (tree.x[node] - tree.x[root]) * scale, width = tree.width[node] * scale;
    const y = upwards ? height - MARGIN - (row + 1) * SVG_ROW : HEAD + row * SVG_ROW;
    const text = shorten(label(node), Math.floor((width - 6) / COLUMN));
    const shown = text.length > 2 ? `<text x="${(x + 3).toFixed(1)}" y="${y + 12.5}">${escape(text)}</text>` : '';
    return `<g><title>${escape(`${label(node)}: ${cost(node)}`)}</title><rect x="${x.toFixed(2)}" y="${y}" ` +
      `width="${Math.max(width - 0.5, 0.3).toFixed(2)}" height="${SVG_ROW - 1}" fill="${fill(node)}"/>${shown}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" ` +
    `fill="${colours.text}"><rect width="100%" height="100%" fill="${colours.paper}"/>` +
    `<text x="${MARGIN}" y="22" font-size="14">${escape(title)}</text>\n${frames.join('\n')}\n</svg>\n`;
}
