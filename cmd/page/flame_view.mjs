// SPDX-License-Identifier: MIT
//
// flame_view.mjs: the flame graph of all samples, with its switches and the key to its colours.

import { nodeFigures } from './details.mjs';
import { el, replaceControls, segmented } from './dom.mjs';
import { FlameCanvas } from './flame_canvas.mjs';
import { label, percent } from './format.mjs';
import { Overview } from './overview.mjs';
import { colourChoices, makePalette, usualColour } from './palette.mjs';
import { nodeByRanks, pathOf, rankPath } from './tree.mjs';

/** The key to colours. @param {import('./palette.mjs').Palette} palette @param {number} total */
export function colourKey(palette, total) {
  const entries = palette.key.map(({ text, colour, cost }) => {
    const swatch = el('span', { class: 'swatch' });
    swatch.style.background = colour;
    const share = cost ? ` ${percent(cost, total)}` : '';
    return el('li', { title: `${text}${share}` }, swatch, el('span', { class: 'name', text }),
      el('span', { class: 'share', text: share }));
  });
  return el('ul', { class: 'colour-key', 'aria-label': 'Key to the colours' }, ...entries);
}

export class FlameView {
  /** @param {HTMLElement} host @param {import('./main.mjs').App} app */
  constructor(host, app) {
    this.app = app;
    this.tools = el('div', { class: 'tools' });
    this.area = el('div', { class: 'flame' });
    const whole = el('div', { class: 'overview' });
    host.replaceChildren(this.tools, whole, this.area);
    this.canvas = new FlameCanvas(this.area, {
      onhover: (node) => this.describe(node),
      onselect: (node) => this.select(node),
      onzoom: (node) => this.zoom(node),
      ondraw: () => this.overview?.draw(),
    }, 'Flame graph. Arrow keys select a frame, Enter zooms to it, Escape shows all.');
    this.overview = new Overview(whole, this.canvas);
  }

  /** @param {number} node */
  labelOf(node) {
    const { analysis } = this.app;
    return node > 0 ? analysis.frames.labels[this.tree.frame[node]] : this.rootLabel;
  }

  update() {
    const { app, canvas } = this, { analysis, state } = app;
    this.tree = analysis.tree(state);
    this.totals = analysis.totals(state);
    this.palette = app.palette(this.tree);
    this.rootLabel = `all: ${label(this.tree.total[0], app.unit)}`;
    this.updateTools();
    const refined = this.isRefined(), { selected } = canvas, old = canvas.tree;
    canvas.show(this.tree, {
      fill: this.palette.fill, parts: this.palette.parts, label: (node) => this.labelOf(node), matched: app.matched,
      selectedFrame: app.selectedFrame(), upwards: state.grow === 'flame', dark: app.dark, withRoot: true,
      printing: app.printing,
    }, refined);
    if (refined && old !== this.tree && selected > 0) {
      canvas.selected = nodeByRanks(this.tree, rankPath(old, selected));
    }
    // Another view may have selected another function.
    if (canvas.selected > 0 && this.labelOf(canvas.selected) !== state.selected) {
      canvas.selected = -1;
    }
    this.restoreZoom();
  }

  /** Whether the tree is the one before with more or fewer narrow nodes. */
  isRefined() {
    const { analysis, state } = this.app, key = `${state.order} ${analysis.key(state)}`;
    const same = key === this.treeKey;
    this.treeKey = key;
    return same;
  }

  /** The zoom of the state, where it is not what the canvas shows. */
  restoreZoom() {
    const { zoom } = this.app.state, { canvas } = this;
    const node = nodeByRanks(this.tree, zoom);
    if (node !== canvas.zoomed || canvas.zoomPath !== zoom) {
      canvas.zoomTo(node);
      canvas.selected = node || canvas.selected;
    }
    canvas.zoomPath = zoom;
    this.describe(canvas.selected);
  }

  updateTools() {
    const { state, analysis } = this.app;
    const chosen = state.colour || usualColour(analysis);
    const colours = el('select', { 'aria-label': 'Colour by', onchange: (event) =>
      this.app.set({ colour: event.target.value }) },
    ...colourChoices(analysis).map(([value, text]) => el('option', { value, text, selected: value === chosen })));
    const normalize = analysis.base ? el('label', { class: 'check' }, el('input', {
      type: 'checkbox', checked: state.normalize === '1', onchange: (event) =>
        this.app.set({ normalize: event.target.checked ? '1' : '', zoom: '' }),
    }), 'same total') : null;
    replaceControls(this.tools,
      segmented('Order', [['down', 'Top down'], ['up', 'Bottom up']], state.order,
        (order) => this.app.set({ order, zoom: '' })),
      segmented('Direction', [['icicle', 'Icicle'], ['flame', 'Flame']], state.grow, (grow) => this.app.set({ grow })),
      ...(normalize ? [normalize] : []),
      el('label', { class: 'pick' }, 'Colour ', colours),
      colourKey(this.palette, this.totals[0]),
    );
  }

  /** @param {number} node */
  describe(node) {
    const shown = node >= 0 ? node : this.canvas.selected;
    if (shown < 0 || shown >= this.tree.count) {
      this.app.describe(null);
      return;
    }
    const frame = this.tree.frame[shown];
    const figures = nodeFigures(this.tree, shown, this.totals, this.app.unit);
    this.app.describe({
      title: shown ? this.labelOf(shown) : 'all samples', place: shown ? this.app.placeOf(frame) : '', figures,
    });
  }

  /** @param {number} node */
  select(node) {
    this.canvas.select(node);
    this.app.set({ selected: node > 0 ? this.labelOf(node) : '' });
    this.describe(node);
  }

  /** @param {number} node */
  zoom(node) {
    const zoom = rankPath(this.tree, node);
    if (zoom === this.app.state.zoom) {
      this.canvas.zoomTo(node);
    }
    this.app.set({ zoom }, true);
  }

  /** The frames of the selection, from the outermost on. */
  stack() {
    const node = this.canvas.selected;
    return node > 0 ? pathOf(this.tree, node).map((frame) => this.app.analysis.frames.labels[frame]) : [];
  }

  /** Goes to the next or the previous match of the search. @param {number} step */
  nextMatch(step) {
    const { matched } = this.app, { frame, count } = this.tree;
    if (!matched) {
      return;
    }
    for (let tried = 1; tried <= count; tried++) {
      const node = (((this.canvas.selected + step * tried) % count) + count) % count;
      if (node && matched[frame[node]]) {
        this.canvas.step(node);
        return;
      }
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    switch (event.key) {
      case 'Escape': case '0': this.zoom(0); return true;
      case 'Backspace': this.zoom(Math.max(this.tree.parent[this.canvas.zoomed], 0)); return true;
      case 'i': this.app.set({ grow: this.app.state.grow === 'flame' ? 'icicle' : 'flame' }); return true;
      case 'r': this.app.set({ order: this.app.state.order === 'up' ? 'down' : 'up', zoom: '' }); return true;
      case 'n': this.nextMatch(1); return true;
      case 'N': this.nextMatch(-1); return true;
      default: return this.canvas.key(event) !== false;
    }
  }

  focus() {
    this.canvas.canvas.focus({ preventScroll: true });
  }
}
