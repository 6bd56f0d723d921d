// SPDX-License-Identifier: MIT
//
// table_view.mjs: the functions with their flat and cum values: the rows of `cpprof top`, all of them.
//
// Only the rows that are in view are elements, so that 200 000 functions scroll as ten do.

import { el, replaceControls } from './dom.mjs';
import { commonUnit, label, percent } from './format.mjs';
import { compileSearch } from './search.mjs';

const TABLE_ROW = 26;

/** How many rows are printed: ten sheets or so. */
const PRINTED = 400;

/**
 * `rest`: the class of a column that is left out where there is little room.
 * @typedef {{key: string, title: string, hint: string, rest?: string, value: (frame: number) => number,
 *            text: (frame: number) => string}} Column
 */

export class TableView {
  /** @param {HTMLElement} host @param {import('./main.mjs').App} app */
  constructor(host, app) {
    this.app = app;
    /** @type {number[]} */
    this.rows = [];
    this.at = 0;
    this.total = 0;
    this.filter = el('input', {
      type: 'search', placeholder: 'Only functions that match…', 'aria-label': 'Filter the table', spellcheck: 'false',
      oninput: () => this.app.set({ filter: this.filter.value }),
    });
    this.count = el('span', { class: 'note' });
    this.head = el('div', { class: 'row head', role: 'row' });
    this.body = el('div', { class: 'rows', role: 'rowgroup' });
    this.scroller = el('div', { class: 'scroller', tabindex: 0, role: 'table', 'aria-label': 'Functions',
      onscroll: () => this.fill() }, el('div', { class: 'sticky', role: 'rowgroup' }, this.head), this.body);
    host.replaceChildren(el('div', { class: 'tools' }, this.filter, this.count), this.scroller);
    new ResizeObserver(() => this.fill()).observe(this.scroller);
  }

  /** @returns {Column[]} */
  columns() {
    const { app } = this, [own, base] = app.analysis.frameTotals(app.state);
    const [total, baseTotal] = app.analysis.totals(app.state);
    const cost = (/** @type {string} */ key, /** @type {string} */ title, hint, values) =>
      ({ key, title, hint, value: (frame) => values[frame], text: (frame) => label(values[frame], app.unit, this.unit) });
    const share = (key, values, whole) => ({ key, title: '', rest: ' rest', hint: 'share of the total', value: (frame) => values[frame],
      text: (frame) => percent(values[frame], whole) });
    const columns = [
      cost('flat', 'flat', 'in the function itself', own.flat), share('flat%', own.flat, total),
      cost('cum', 'cum', 'in the function and what it calls', own.cum), share('cum%', own.cum, total),
    ];
    if (base) {
      const change = own.cum.map((value, frame) => value - base.cum[frame]);
      const flatChange = own.flat.map((value, frame) => value - base.flat[frame]);
      columns.push({ ...cost('before', 'cum before', 'cum in the profile to compare with', base.cum), rest: ' rest' },
        share('before%', base.cum, baseTotal),
        cost('change', 'change', 'change of cum', change),
        { ...cost('flat change', 'flat change', 'change of flat', flatChange), rest: ' rest' });
    }
    return columns;
  }

  update() {
    const { app } = this, { state, analysis } = app;
    const made = `${analysis.key(state)} ${this.sortKey} ${state.filter}`;
    if (this.made !== made) {
      this.made = made;
      this.makeRows(analysis.ranked(state, 'cum'));
    }
    const at = this.rows.indexOf(app.selectedFrame());
    this.at = Math.max(0, at);
    if (at >= 0 && state.selected !== this.selected) {
      this.reveal();
    }
    this.selected = state.selected;
    this.fill();
  }

  /** @param {number[]} frames */
  makeRows(frames) {
    const { app } = this, { state, analysis } = app, [own] = analysis.frameTotals(state);
    [this.total] = analysis.totals(state);
    this.unit = commonUnit((function* () {
      for (const frame of frames) {
        yield own.flat[frame] || own.cum[frame];
      }
    })(), this.total, app.unit);
    this.list = this.columns();
    this.sort(frames);
    if (this.filter.value !== state.filter) {
      this.filter.value = state.filter;
    }
    replaceControls(this.head, ...this.list.map((column) => this.headCell(column)),
      this.headCell({ key: 'name', title: 'function', hint: 'by name' }), el('span', { class: 'cell text rest', role: 'columnheader',
        text: 'object file' }));
    this.head.classList.toggle('wide', Boolean(analysis.base));
    this.count.textContent = `${this.rows.length} of ${frames.length} functions`;
  }

  /** Scrolls to the selected row. */
  reveal() {
    const top = this.at * TABLE_ROW, height = this.scroller.clientHeight - TABLE_ROW;
    if (top < this.scroller.scrollTop || top + TABLE_ROW > this.scroller.scrollTop + height) {
      this.scroller.scrollTop = Math.max(0, top - height / 2);
    }
  }

  get sortKey() {
    return this.app.state.sort || (this.app.analysis.base ? 'change' : this.app.analysis.usualSort());
  }

  /** @param {number[]} frames */
  sort(frames) {
    const { labels } = this.app.analysis.frames, key = this.sortKey;
    const { regex, error } = compileSearch(this.app.state.filter);
    this.filter.setAttribute('aria-invalid', String(error !== ''));
    this.filter.title = error;
    const kept = regex ? frames.filter((frame) => regex.test(labels[frame])) : frames.slice();
    const byName = (/** @type {number} */ a, /** @type {number} */ b) => (labels[a] < labels[b] ? -1 : 1);
    const column = this.list.find((one) => one.key === key);
    if (column) {
      const costs = Float64Array.from(labels, (_, frame) => Math.abs(column.value(frame)));
      kept.sort((a, b) => costs[b] - costs[a] || byName(a, b));
    } else {
      kept.sort(byName);
    }
    this.rows = kept;
  }

  /** @param {{key: string, title: string, hint: string}} column */
  headCell({ key, title, hint, rest = '' }) {
    const sorted = key === this.sortKey;
    const cell = el('span', { class: key === 'name' ? 'cell text' : `cell${rest}`, role: 'columnheader',
      'aria-sort': sorted ? (key === 'name' ? 'ascending' : 'descending') : 'none' });
    cell.append(title ? el('button', { type: 'button', text: title + (sorted ? ' ▾' : ''), title: `Sort: ${hint}`,
      onclick: () => this.app.set({ sort: key }) }) : el('span', { text: key, title: hint }));
    return cell;
  }

  /** Makes the elements of the rows in view; on paper of the first ones. */
  fill() {
    if (!this.list) {
      return;
    }
    const { printing } = this.app;
    const first = printing ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / TABLE_ROW) - 5);
    const last = Math.min(this.rows.length, printing ? PRINTED : first + Math.ceil(this.scroller.clientHeight / TABLE_ROW) + 10);
    this.body.style.height = `${(printing ? last : this.rows.length) * TABLE_ROW}px`;
    const rows = [];
    for (let i = first; i < last; i++) {
      rows.push(this.row(i));
    }
    this.body.replaceChildren(...rows);
  }

  /** @param {number} index */
  row(index) {
    const { analysis } = this.app, frame = this.rows[index];
    const cells = this.list.map((column) => {
      const text = column.text(frame), grows = column.key.endsWith('change') && column.value(frame);
      const kind = grows ? (grows > 0 ? ' grew' : ' shrank') : '';
      const zero = text === '0' || text === '0%' ? ' zero' : '';
      return el('span', { class: `cell${kind}${column.rest || ''}${zero}`, role: 'cell', text: grows > 0 ? `+${text}` : text });
    });
    const bar = el('span', { class: 'bar' });
    const [own] = analysis.frameTotals(this.app.state);
    bar.style.width = `${Math.min(100, Math.abs(own.cum[frame] / (this.total || 1)) * 100)}%`;
    const name = el('span', { class: 'cell text name', role: 'cell', title: analysis.frames.labels[frame] },
      bar, el('span', { class: 'over', text: analysis.frames.labels[frame] }));
    const row = el('div', {
      class: analysis.base ? 'row wide' : 'row', role: 'row', 'aria-selected': String(index === this.at),
      onclick: () => this.choose(index), ondblclick: () => this.app.set({ view: 'sandwich' }, true),
    }, ...cells, name, el('span', { class: 'cell text module rest', role: 'cell', text: analysis.frames.modules[frame] }));
    row.style.top = `${index * TABLE_ROW}px`;
    row.classList.toggle('matched', Boolean(this.app.matched && this.app.matched[frame]));
    return row;
  }

  /** @param {number} index */
  choose(index) {
    this.at = Math.min(Math.max(index, 0), this.rows.length - 1);
    if (this.at < 0) {
      return;
    }
    this.app.set({ selected: this.app.analysis.frames.labels[this.rows[this.at]] });
    this.reveal();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / TABLE_ROW) - 2);
    switch (event.key) {
      case 'ArrowDown': case 'j': this.choose(this.at + 1); return true;
      case 'ArrowUp': case 'k': this.choose(this.at - 1); return true;
      case 'PageDown': this.choose(this.at + page); return true;
      case 'PageUp': this.choose(this.at - page); return true;
      case 'Home': this.choose(0); return true;
      case 'End': this.choose(this.rows.length - 1); return true;
      case 'Enter': this.app.set({ view: 'sandwich' }, true); return true;
      case 'o': this.app.set({ sort: this.nextSort() }); return true;
      default: return false;
    }
  }

  nextSort() {
    const keys = [...this.list.filter((column) => column.title).map((column) => column.key), 'name'];
    return keys[(keys.indexOf(this.sortKey) + 1) % keys.length];
  }

  focus() {
    this.scroller.focus({ preventScroll: true });
  }
}
