// SPDX-License-Identifier: MIT
//
// labels_view.mjs: the labels of the samples and what each value costs. A click lets only the samples with it count,
// a click with Alt or Ctrl only those without.

import { costText } from './details.mjs';
import { el, replaceControls } from './dom.mjs';
import { labelCosts } from './labels.mjs';

const SHOWN = 200;

export class LabelsView {
  /** @param {HTMLElement} host @param {import('./main.mjs').App} app */
  constructor(host, app) {
    this.app = app;
    this.host = el('div', { class: 'page-scroll labels', tabindex: 0 });
    host.replaceChildren(this.host);
  }

  update() {
    const { app } = this, [group] = app.analysis.groups(app.state), [total] = app.analysis.totals(app.state);
    const costs = labelCosts(group);
    if (!costs.length) {
      this.host.replaceChildren(el('p', { class: 'empty', text: app.analysis.labelKeys.length
        ? 'No sample that passes the filters has a label.'
        : 'This profile has no labels. A program sets them with pprof_do() or pprof_set_labels().' }));
      return;
    }
    replaceControls(this.host, ...costs.map((one) => this.section(one, total)));
  }

  /** @param {{key: string, values: {value: string, cost: number}[], total: number}} one @param {number} total */
  section({ key, values, total: sum }, total) {
    const { app } = this;
    const head = el('h2', {}, el('span', { text: key }), el('span', { class: 'note', text: ` ${costText(sum, total, app.unit)}` }),
      el('button', { type: 'button', class: 'quiet', text: 'Colour by this', onclick: () =>
        app.set({ colour: `label:${key}`, view: 'flame' }, true) }));
    const rows = values.slice(0, SHOWN).map(({ value, cost }) => this.row(key, value, cost, total));
    const more = values.length > SHOWN
      ? [el('p', { class: 'note', text: `and ${values.length - SHOWN} more values` })] : [];
    return el('section', { class: 'label-box' }, head, ...rows, ...more);
  }

  row(key, value, cost, total) {
    const { app } = this, filter = `${key}=${value}`;
    const bar = el('span', { class: 'bar' });
    bar.style.width = `${Math.min(100, Math.abs(cost / (total || 1)) * 100)}%`;
    return el('button', {
      type: 'button', class: 'label-row', 'aria-pressed': String(Boolean(app.findFilter(['labels', filter]))),
      title: `${filter}: click for only these samples, Alt-click for all others`,
      onclick: (event) => app.toggleLabel(event.altKey || event.ctrlKey ? `!${filter}` : filter),
    }, bar, el('span', { class: 'cell', text: costText(cost, total, app.unit) }),
    el('span', { class: 'cell text name', text: value === '' ? '(empty)' : value }));
  }

  key() {
    return false;
  }

  focus() {
    this.host.focus({ preventScroll: true });
  }
}
