// SPDX-License-Identifier: MIT
//
// sandwich_view.mjs: all occurrences of one function: who calls it, above, and what it calls, below.
//
// A sample counts once, with the outermost occurrence on its stack, so that both halves add up to the function's cum.

import { nodeFigures } from './details.mjs';
import { el } from './dom.mjs';
import { FlameCanvas } from './flame_canvas.mjs';
import { costText } from './details.mjs';
import { pathOf } from './tree.mjs';

class Half {
  /** @param {SandwichView} view @param {string} direction @param {string} title */
  constructor(view, direction, title) {
    this.view = view;
    this.direction = direction;
    this.area = el('div', { class: 'flame half' });
    this.element = el('section', { class: 'half-box' }, el('h3', { text: title }), this.area);
    this.canvas = new FlameCanvas(this.area, {
      onhover: (node) => this.describe(node),
      onselect: (node) => {
        this.view.current = this;
        this.canvas.select(node);
        this.describe(node);
      },
      onzoom: (node) => this.zoom(node),
    }, `${title} of the function`);
  }

  /** @param {number} frame */
  update(frame) {
    const { app } = this.view;
    this.tree = app.analysis.around(app.state, frame, this.direction);
    const { fill } = app.palette(this.tree);
    this.canvas.show(this.tree, {
      fill, label: (node) => app.analysis.frames.labels[this.tree.frame[node]], matched: app.matched,
      selectedFrame: -1, upwards: this.direction === 'callers', dark: app.dark, withRoot: false,
    });
  }

  /** The first click zooms; one on the same frame again makes that function the middle. @param {number} node */
  zoom(node) {
    if (node > 0 && node === this.canvas.zoomed) {
      this.view.app.set({ selected: this.view.app.analysis.frames.labels[this.tree.frame[node]] }, true);
    } else {
      this.canvas.zoomTo(node > 0 ? node : 0);
    }
  }

  /** @param {number} node */
  describe(node) {
    const shown = node > 0 ? node : this.canvas.selected;
    const { app } = this.view;
    if (shown <= 0 || shown >= this.tree.count) {
      app.describe(null);
      return;
    }
    const frame = this.tree.frame[shown];
    app.describe({ title: app.analysis.frames.labels[frame], place: app.placeOf(frame),
      figures: nodeFigures(this.tree, shown, app.analysis.totals(app.state), app.unit) });
  }
}

export class SandwichView {
  /** @param {HTMLElement} host @param {import('./main.mjs').App} app */
  constructor(host, app) {
    this.app = app;
    this.tools = el('div', { class: 'tools subject' });
    this.callers = new Half(this, 'callers', 'Callers');
    this.callees = new Half(this, 'callees', 'Callees');
    this.current = this.callees;
    host.replaceChildren(this.tools, el('div', { class: 'sandwich' }, this.callers.element, this.callees.element));
  }

  update() {
    const { app } = this, frame = app.subject();
    const [own] = app.analysis.frameTotals(app.state), [total] = app.analysis.totals(app.state);
    this.tools.replaceChildren(
      el('h2', { text: app.analysis.frames.labels[frame], title: app.analysis.frames.labels[frame] }),
      el('span', { class: 'note', text: `flat ${costText(own.flat[frame], total, app.unit)}` }),
      el('span', { class: 'note', text: `cum ${costText(own.cum[frame], total, app.unit)}` }));
    this.callers.update(frame);
    this.callees.update(frame);
  }

  /** The stack of the selection, from the outermost on. */
  stack() {
    const { tree, canvas, direction } = this.current;
    const path = canvas.selected > 0 ? pathOf(tree, canvas.selected) : [this.app.subject()];
    const ordered = direction === 'callers' ? path.reverse() : path;
    return ordered.map((frame) => this.app.analysis.frames.labels[frame]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === 'Escape' || event.key === '0') {
      this.callers.canvas.zoomTo(0);
      this.callees.canvas.zoomTo(0);
      return true;
    }
    if (event.key === 'o') {
      this.current = this.current === this.callees ? this.callers : this.callees;
      this.focus();
      return true;
    }
    return this.current.canvas.key(event) !== false;
  }

  focus() {
    this.current.canvas.canvas.focus({ preventScroll: true });
  }
}
