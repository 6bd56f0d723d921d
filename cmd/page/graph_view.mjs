// SPDX-License-Identifier: MIT
//
// graph_view.mjs: the call graph around one function. Callers are on the left, callees on the right. A click on a
// function makes it the middle.

import { costText } from './details.mjs';
import { el, svg } from './dom.mjs';
import { label, percent } from './format.mjs';
import { layoutGraph } from './graph_layout.mjs';
import { shorten } from './text.mjs';

const REACH = 2;
const MOST = 8;
const BOX_HEIGHT = 44;
const GAP = 14;

export class GraphView {
  /** @param {HTMLElement} host @param {import('./main.mjs').App} app */
  constructor(host, app) {
    this.app = app;
    this.tools = el('div', { class: 'tools subject' });
    this.area = el('div', { class: 'graph', tabindex: 0 });
    host.replaceChildren(this.tools, this.area);
    new ResizeObserver(() => this.draw()).observe(this.area);
  }

  update() {
    const { app } = this, frame = app.subject();
    const [own] = app.analysis.frameTotals(app.state), [total] = app.analysis.totals(app.state);
    this.tools.replaceChildren(
      el('h2', { text: app.analysis.frames.labels[frame], title: app.analysis.frames.labels[frame] }),
      el('span', { class: 'note', text: `flat ${costText(own.flat[frame], total, app.unit)}` }),
      el('span', { class: 'note', text: `cum ${costText(own.cum[frame], total, app.unit)}` }));
    this.layout = layoutGraph(app.analysis.edges(app.state), frame, REACH, MOST);
    this.draw();
  }

  /** The places of the boxes. */
  place() {
    const width = Math.max(this.area.clientWidth, 720), columns = 2 * REACH + 1;
    const gutter = Math.min(90, width * 0.05);
    const boxWidth = (width - 24 - gutter * (columns - 1)) / columns;
    const counts = new Map();
    this.layout.nodes.forEach(({ level }) => counts.set(level, (counts.get(level) || 0) + 1));
    const tallest = Math.max(...counts.values());
    const height = Math.max(this.area.clientHeight - 4, tallest * (BOX_HEIGHT + GAP) + 48);
    this.places = new Map(this.layout.nodes.map(({ frame, level, order }) => {
      const column = counts.get(level) * (BOX_HEIGHT + GAP) - GAP;
      return [frame, {
        x: 12 + (level + REACH) * (boxWidth + gutter),
        y: (height - column) / 2 + order * (BOX_HEIGHT + GAP), level,
      }];
    }));
    return { width, height, boxWidth };
  }

  draw() {
    if (!this.layout || !this.area.clientWidth) {
      return;
    }
    const { width, height, boxWidth } = this.place();
    const arrow = svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
      markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8z', class: 'arrow' }));
    const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group',
      'aria-label': 'Call graph' }, svg('defs', {}, arrow));
    const boxes = this.layout.nodes.map((node) => this.box(node, boxWidth));
    picture.append(...this.layout.edges.map((edge) => this.edge(edge, boxWidth)), ...boxes, ...this.notes(boxWidth, height));
    this.area.replaceChildren(picture);
  }

  /** @param {import('./totals.mjs').Edge} edge @param {number} boxWidth */
  edge({ from, to, weight }, boxWidth) {
    const { app } = this, [total] = app.analysis.totals(app.state);
    const a = this.places.get(from), b = this.places.get(to);
    const forward = b.level > a.level, sameLevel = b.level === a.level;
    const x1 = a.x + (forward || sameLevel ? boxWidth : 0), y1 = a.y + BOX_HEIGHT / 2 + (sameLevel ? 8 : 0);
    const x2 = b.x + (forward ? 0 : boxWidth), y2 = b.y + BOX_HEIGHT / 2 + (sameLevel ? -8 : 0);
    const bend = sameLevel ? 26 : (forward ? 1 : -1) * Math.max(30, Math.abs(x2 - x1) / 2);
    const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + (sameLevel ? bend : -bend)} ${y2} ${x2} ${y2}`;
    const share = Math.abs(weight) / (total || 1);
    const { labels } = app.analysis.frames;
    return svg('g', { class: forward ? 'edge' : 'edge back' },
      svg('title', { text: `${labels[from]} → ${labels[to]}: ${costText(weight, total, app.unit)}` }),
      svg('path', { d: path, 'stroke-width': (1 + share * 9).toFixed(2), 'stroke-opacity': (0.3 + share * 0.5).toFixed(2),
        'marker-end': 'url(#arrow)' }));
  }

  /** @param {import('./graph_layout.mjs').Placed} node @param {number} boxWidth */
  box({ frame, level }, boxWidth) {
    const { app } = this, { frames } = app.analysis, { x, y } = this.places.get(frame);
    const [own] = app.analysis.frameTotals(app.state), [total] = app.analysis.totals(app.state);
    const columns = Math.floor((boxWidth - 16) / 7.5);
    const cost = boxWidth > 150
      ? `${label(own.cum[frame], app.unit)} of ${percent(own.cum[frame], total)}`.replace(' of ', ' · ')
      : percent(own.cum[frame], total);
    const flat = own.flat[frame] && boxWidth > 190 ? `, flat ${percent(own.flat[frame], total)}` : '';
    const rect = svg('rect', { width: boxWidth, height: BOX_HEIGHT, rx: 5 });
    rect.style.fill = app.frameFill(frame);
    return svg('g', {
      class: level === 0 ? 'box subject' : 'box', transform: `translate(${x} ${y})`, tabindex: 0, role: 'button',
      'data-frame': frame, onclick: () => this.choose(frame), onpointerenter: () => app.describe(app.frameDetail(frame)),
      onfocus: () => app.describe(app.frameDetail(frame)), onpointerleave: () => app.describe(null),
    }, svg('title', { text: `${frames.labels[frame]}, ${costText(own.cum[frame], total, app.unit)}` }), rect,
    svg('text', { x: 8, y: 18, class: 'name', text: shorten(frames.labels[frame], columns) }),
    svg('text', { x: 8, y: 35, class: 'cost', text: cost + flat }));
  }

  notes(boxWidth, height) {
    const notes = [];
    for (let level = -REACH; level <= REACH; level++) {
      const hidden = this.layout.hidden.get(level);
      const x = 12 + (level + REACH) * ((Math.max(this.area.clientWidth, 720) - 24 - boxWidth) / (2 * REACH));
      if (hidden) {
        notes.push(svg('text', { x, y: height - 10, class: 'note', text: `and ${hidden} more` }));
      }
    }
    return notes;
  }

  /** @param {number} frame */
  choose(frame) {
    this.app.set({ selected: this.app.analysis.frames.labels[frame] }, true);
  }

  /** Goes from box to box. @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const focused = /** @type {any} */ (document.activeElement);
    const from = Number(focused?.dataset?.frame ?? this.app.subject());
    if (event.key === 'Enter' && focused?.dataset?.frame) {
      this.choose(from);
      return true;
    }
    if (!step) {
      return false;
    }
    this.focusBox(this.nearest(from, step[0], step[1]));
    return true;
  }

  /** @param {number} from @param {number} dx @param {number} dy */
  nearest(from, dx, dy) {
    const here = this.places.get(from);
    let best = from, least = Infinity;
    for (const [frame, place] of this.places) {
      const along = dx ? Math.sign(place.level - here.level) === dx && Math.abs(place.level - here.level) === 1
        : place.level === here.level && Math.sign(place.y - here.y) === dy;
      const distance = Math.abs(place.y - here.y);
      if (along && distance < least) {
        best = frame;
        least = distance;
      }
    }
    return best;
  }

  /** @param {number} frame */
  focusBox(frame) {
    this.area.querySelector(`[data-frame="${frame}"]`)?.focus();
  }

  focus() {
    this.area.focus({ preventScroll: true });
  }
}
