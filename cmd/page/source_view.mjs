// SPDX-License-Identifier: MIT
//
// source_view.mjs: the lines of a function's source file and what each costs.
//
// The text of the file is there if the page came with it: a JSON object in the element "sources", with a text for each
// path. Without it, the view lists the lines that cost anything.

import { costText } from './details.mjs';
import { byId, el } from './dom.mjs';
import { commonUnit, label } from './format.mjs';
import { lineTotals } from './totals.mjs';

const AROUND = 6;

/** The texts that came with the page. @returns {Record<string, string>} */
function readSources() {
  const element = byId('sources');
  try {
    return element ? JSON.parse(element.textContent) : {};
  } catch {
    return {};
  }
}

export class SourceView {
  /** @param {HTMLElement} host @param {import('./main.mjs').App} app */
  constructor(host, app) {
    this.app = app;
    this.sources = readSources();
    this.tools = el('div', { class: 'tools subject' });
    this.area = el('div', { class: 'page-scroll source', tabindex: 0 });
    host.replaceChildren(this.tools, this.area);
  }

  update() {
    const { app } = this, frame = app.subject(), file = app.analysis.frames.files[frame];
    const [own] = app.analysis.frameTotals(app.state), [total] = app.analysis.totals(app.state);
    this.tools.replaceChildren(
      el('h2', { text: app.analysis.frames.labels[frame], title: app.analysis.frames.labels[frame] }),
      el('span', { class: 'note', text: file }),
      el('span', { class: 'note', text: `cum ${costText(own.cum[frame], total, app.unit)}` }));
    const lines = file ? lineTotals(app.analysis.groups(app.state)[0], file) : new Map();
    if (!lines.size) {
      this.area.replaceChildren(el('p', { class: 'empty', text:
        'The profile has no lines for this function. cpprof flame --sources adds them, where the program has debug ' +
        'information (-g).' }));
      return;
    }
    this.showLines(file, lines, total);
    if (frame !== this.shown) {
      this.area.querySelector(`[data-line="${this.firstLine(frame)}"]`)?.scrollIntoView({ block: 'center' });
    }
    this.shown = frame;
  }

  /** The first line of a function that is in the profile. @param {number} frame */
  firstLine(frame) {
    const { profile: { lineNumber }, ofLine, lineAt } = this.app.analysis.sources[0];
    let first = Infinity;
    ofLine.forEach((one, at) => {
      first = one === frame && lineNumber[lineAt[at]] < first ? lineNumber[lineAt[at]] : first;
    });
    return first;
  }

  /** @param {string} file @param {Map<number, {flat: number, cum: number}>} lines @param {number} total */
  showLines(file, lines, total) {
    const numbers = [...lines.keys()].sort((a, b) => a - b);
    const unit = commonUnit([...lines.values()].map((line) => line.flat || line.cum), total, this.app.unit);
    const text = Object.hasOwn(this.sources, file) ? this.sources[file].split('\n') : null;
    const largest = Math.max(...[...lines.values()].map((line) => Math.abs(line.cum)));
    const row = (/** @type {number} */ number) => this.row(number, lines.get(number), text, unit, largest);
    const shown = [];
    let last = 0;
    for (const number of numbers) {
      const from = text ? Math.max(last + 1, number - AROUND) : number;
      const to = text ? Math.min(text.length, number + AROUND) : number;
      if (last && from > last + 1) {
        shown.push(el('div', { class: 'source-gap', text: '⋯' }));
      }
      for (let at = Math.max(from, last + 1); at <= to; at++) {
        shown.push(row(at));
        last = at;
      }
    }
    const head = el('div', { class: 'source-row head' }, el('span', { class: 'cell', text: 'flat' }),
      el('span', { class: 'cell', text: 'cum' }), el('span', { class: 'cell', text: 'line' }),
      el('span', { class: 'cell text', text: text ? file : `${file}: the text did not come with the profile` }));
    this.area.replaceChildren(head, ...shown);
  }

  row(number, cost, text, unit, largest) {
    const { app } = this;
    const value = (/** @type {number} */ one) => (one ? label(one, app.unit, unit) : '.');
    const row = el('div', { class: cost ? 'source-row hot' : 'source-row', 'data-line': number },
      el('span', { class: 'cell', text: cost ? value(cost.flat) : '' }),
      el('span', { class: 'cell', text: cost ? value(cost.cum) : '' }),
      el('span', { class: 'cell number', text: String(number) }),
      el('code', { class: 'cell text', text: text ? text[number - 1] : '' }));
    if (cost) {
      row.style.setProperty('--heat', `${Math.round(Math.sqrt(Math.abs(cost.cum) / (largest || 1)) * 100)}%`);
    }
    return row;
  }

  key() {
    return false;
  }

  focus() {
    this.area.focus({ preventScroll: true });
  }
}
