// SPDX-License-Identifier: MIT
//
// main.mjs: the page: finds the profile, decodes it, and shows it in the view that the reader chose.
//
//   element "profile" or ?src=, ?profile= -> bytes -> decode -> Analysis -> views
//                                             URL <-> State --^
//
// A view has update(), which shows the state, key(), which handles a key or returns false, and focus(). Side by side, the
// flame graph and the table are both shown; keys go to the one with the keyboard first.

import { Analysis } from './analysis.mjs';
import { decodeProfile } from './decode.mjs';
import { changeText, costText, showDetail } from './details.mjs';
import { byId, el, replaceControls, saveFile } from './dom.mjs';
import { FlameView } from './flame_view.mjs';
import { dateText, label, percent } from './format.mjs';
import { MOTION } from './flame_canvas.mjs';
import { GraphView } from './graph_view.mjs';
import { decodeBase64, gunzip } from './gunzip.mjs';
import { KEYS } from './keys.mjs';
import { LabelsView } from './labels_view.mjs';
import { makePalette } from './palette.mjs';
import { SandwichView } from './sandwich_view.mjs';
import { compileSearch, matchedWidth, matchFrames } from './search.mjs';
import { SourceView } from './source_view.mjs';
import { defaultState, FILTERS, formatState, parseState } from './state.mjs';
import { flameSvg } from './svg_export.mjs';
import { TableView } from './table_view.mjs';
import { baseName } from './text.mjs';
import { nodeByFrames, nodeByRanks, pathOf, rankPath } from './tree.mjs';

const VIEWS = /** @type {const} */ ([
  ['flame', 'Flame graph', FlameView], ['table', 'Table', TableView], ['sandwich', 'Sandwich', SandwichView],
  ['graph', 'Graph', GraphView], ['source', 'Source', SourceView], ['labels', 'Labels', LabelsView],
  ['both', 'Side by side', null],
]);

const THEMES = ['', 'light', 'dark'];

/** From so many on a change of the stacks takes long enough to be announced. */
const MANY_SAMPLES = 200000;
const HINT = 'A click zooms, / searches, ? lists all keys.';

export class App {
  /** @param {Analysis} analysis @param {{name: string, bytes: Uint8Array}} file */
  constructor(analysis, file) {
    this.analysis = analysis;
    this.file = file;
    this.state = defaultState();
    this.palettes = new Map();
    /** @type {Record<string, any>} */
    this.views = {};
    this.system = matchMedia('(prefers-color-scheme: dark)');
    this.system.addEventListener('change', () => this.update());
    addEventListener('hashchange', () => this.restore());
    addEventListener('keydown', (event) => this.onkey(event));
    addEventListener('beforeprint', () => this.print(true));
    addEventListener('afterprint', () => this.print(false));
    this.makeHeader();
    this.makeActions();
  }

  // ---- state ----

  /** Takes the state from the URL. */
  restore() {
    this.state = parseState(location.hash);
    this.update();
  }

  /** Changes the state. With `step` the browser's "back" comes back here. */
  set(changes, step = false) {
    const before = formatState(this.state);
    Object.assign(this.state, changes);
    const now = formatState(this.state);
    if (now === before) {
      return;
    }
    try {
      history[step ? 'pushState' : 'replaceState'](null, '', `#${now}`);
    } catch {
      // Some browsers allow only so many changes of the URL in a time; the next one has them all.
    }
    this.update();
  }

  /** Paper is light. @param {boolean} printing */
  print(printing) {
    this.printing = printing;
    this.update();
  }

  get theme() {
    return this.printing ? 'light' : this.state.theme;
  }

  get dark() {
    return this.theme ? this.theme === 'dark' : this.system.matches;
  }

  get typeIndex() {
    return this.analysis.typeIndex(this.state.type);
  }

  get types() {
    return this.analysis.profile.sampleTypes;
  }

  get type() {
    return this.types[this.typeIndex].type;
  }

  get unit() {
    return this.types[this.typeIndex].unit;
  }

  selectedFrame() {
    return this.state.selected ? this.analysis.frames.find(this.state.selected) : -1;
  }

  /** The function that a view is about: the selected one, or the one that costs most. */
  subject() {
    const selected = this.selectedFrame();
    if (selected >= 0) {
      return selected;
    }
    const [first] = this.analysis.ranked(this.state, 'flat');
    return first === undefined ? this.analysis.deeper : first;
  }

  /** Where a function is. @param {number} frame */
  placeOf(frame) {
    const { modules, files, symbols } = this.analysis.frames;
    return [modules[frame], files[frame], symbols[frame]].filter((part) => part !== '').join(' · ');
  }

  /** The colours of a tree. @param {import('./tree.mjs').Tree} tree */
  palette(tree) {
    const key = `${this.state.colour} ${this.dark} ${this.analysis.key(this.state)}`;
    const known = this.palettes.get(tree);
    if (!known || known.key !== key) {
      this.palettes = new Map([...this.palettes].slice(-4));
      this.palettes.set(tree, { key, palette: makePalette(this.analysis, this.state, tree, this.dark) });
    }
    return this.palettes.get(tree).palette;
  }

  /** The colour of a function where there is no tree. @param {number} frame */
  frameFill(frame) {
    const tree = this.analysis.tree({ ...this.state, order: 'down', zoom: '' });
    const node = this.nodeOf(tree, frame);
    return this.palette(tree).fill(node);
  }

  /** The widest node of a frame. */
  nodeOf(tree, frame) {
    let best = 0;
    for (let node = 1; node < tree.count; node++) {
      if (tree.frame[node] === frame && (!best || tree.width[node] > tree.width[best])) {
        best = node;
      }
    }
    return best;
  }

  // ---- update ----

  /** Shows the state, and what takes long after the picture has moved. @param {boolean} waits for it */
  update(waits = false) {
    const { state, analysis } = this;
    clearTimeout(this.later);
    analysis.later = waits ? null : () => {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.update(true), MOTION + 50);
    };
    document.documentElement.dataset.theme = this.theme;
    const tree = analysis.tree(state);
    this.updateSearch(tree);
    this.updateHeader();
    this.updateEmpty();
    this.updateChips();
    byId('main').classList.toggle('both', this.viewName === 'both');
    for (const [name,, make] of VIEWS) {
      if (make) {
        byId(`view-${name}`).hidden = !this.shown.includes(name);
      }
    }
    // The flame graph describes its frame. What a function costs everywhere takes a look at all samples.
    if (!this.shown.includes('flame')) {
      this.describe(null);
    }
    this.shownViews.forEach((view) => view.update());
    analysis.later = null;
  }

  get viewName() {
    return VIEWS.some(([name]) => name === this.state.view) ? this.state.view : 'flame';
  }

  get shown() {
    return this.viewName === 'both' ? ['flame', 'table'] : [this.viewName];
  }

  /** The views that are shown, the one with the keyboard first. A view is made when it is first shown. */
  get shownViews() {
    const views = this.shown.map((name) => {
      if (!this.views[name]) {
        this.views[name] = new (VIEWS.find(([one]) => one === name)[2])(byId(`view-${name}`), this);
      }
      return this.views[name];
    });
    return byId('view-table').contains(document.activeElement) ? views.reverse() : views;
  }

  get view() {
    return this.shownViews[0];
  }

  /** @param {import('./tree.mjs').Tree} tree */
  updateSearch(tree) {
    const { regex, error } = compileSearch(this.state.search);
    const field = byId('search'), result = byId('search-result');
    if (field.value !== this.state.search) {
      field.value = this.state.search;
    }
    field.setAttribute('aria-invalid', String(error !== ''));
    this.matched = regex ? matchFrames(this.analysis.frames, regex) : null;
    result.textContent = error;
    if (this.matched) {
      const found = this.matched.includes(1);
      const sum = found ? matchedWidth(this.analysis.groups(this.state), tree, this.matched) : 0;
      result.textContent = found ? `${percent(sum, tree.width[0])} matched` : 'no match';
    }
  }

  // ---- header ----

  makeHeader() {
    const tabs = VIEWS.map(([name, title, make], i) => {
      if (make) {
        byId('main').append(el('section', { id: `view-${name}`, class: 'view', hidden: true, 'aria-label': title }));
      }
      return el('button', { type: 'button', id: `tab-${name}`, text: title, title: `${title} (${i + 1})`,
        onclick: () => this.open(name) });
    });
    byId('tabs').replaceChildren(...tabs);
    const types = this.types.map(({ type, unit }) => el('option', { value: type, text:
      type === unit || unit === '' ? type : `${type} (${unit})` }));
    byId('type').replaceChildren(...types);
    byId('type').addEventListener('change', (event) => this.set({ type: event.target.value, zoom: '' }, true));
    byId('search').addEventListener('input', () => this.searchSoon());
    for (const [id, act] of /** @type {[string, () => void][]} */ ([
      ['theme', () => this.nextTheme()], ['help', () => this.showHelp()], ['about', () => this.showAbout()],
      ['save', () => this.saveProfile()], ['save-svg', () => this.saveSvg()]])) {
      byId(id).addEventListener('click', act);
    }
    const name = this.programName();
    byId('title').textContent = name;
    document.title = `${name} – ${this.type}`;
  }

  programName() {
    const { profile, frames } = this.analysis;
    const file = profile.mappingFile.length ? profile.strings[profile.mappingFile[0]] : '';
    return baseName(file) || this.file.name || frames.modules.find((module) => module) || 'profile';
  }

  updateHeader() {
    const { state, analysis } = this;
    const [total, baseTotal] = analysis.totals(state), shown = analysis.tree(state).total[0];
    for (const [name] of VIEWS) {
      byId(`tab-${name}`).setAttribute('aria-current', name === this.viewName ? 'page' : 'false');
    }
    byId('type').value = this.type;
    const filtered = analysis.groups(state).some(({ mask }) => mask);
    const base = baseTotal === undefined ? '' : `, before ${label(baseTotal, this.unit)}`;
    byId('total').textContent = (filtered ? `${label(shown, this.unit)} of ${label(total, this.unit)}`
      : label(total, this.unit)) + base;
    byId('theme').textContent = { light: 'Light', dark: 'Dark' }[state.theme] || 'Auto';
  }

  /** Says that no sample has a value of this type, and which types have some. */
  updateEmpty() {
    const some = this.types.map(({ type }) => type)
      .filter((type) => this.analysis.totals({ ...this.state, type }).some(Boolean));
    byId('empty').hidden = some.includes(this.type);
    byId('empty').textContent = some.length ? `No samples of ${this.type}; there are some of ${some.join(', ')}.` : 'No samples.';
  }

  updateChips() {
    const chips = this.state.filters.map((filter) => el('button', { type: 'button', class: 'chip', title:
      `Undo: ${this.filterText(filter)}`, onclick: () => this.removeFilter(filter) },
    el('span', { class: 'term', text: FILTERS[filter[0]][0] }), el('span', { class: 'name', text: filter[1].replace(/^=/, '') }),
    el('span', { class: 'term', text: this.filterCost(filter) }), el('span', { text: '×' })));
    replaceControls(byId('chips'), ...chips);
    byId('chips').hidden = chips.length === 0;
  }

  /** Searches when the reader pauses: each search goes over the whole tree. */
  searchSoon() {
    clearTimeout(this.searchTimer);
    this.searchTimer = setTimeout(() => this.set({ search: byId('search').value }), 80);
  }

  /** @param {string} view */
  open(view) {
    this.set({ view }, true);
    byId(`tab-${view}`).scrollIntoView({ block: 'nearest' });
    this.view.focus();
  }

  nextTheme() {
    this.set({ theme: THEMES[(THEMES.indexOf(this.state.theme) + 1) % THEMES.length] });
  }

  nextType() {
    this.set({ type: this.types[(this.typeIndex + 1) % this.types.length].type, zoom: '' }, true);
  }

  // ---- filters ----

  /**
   * Changes the filters, and says which one came or went. The zoom stays at the frame where it was, if that is still there.
   * @param {[string, string][]} filters @param {[string, string]} filter @param {object} more changes of the state
   */
  setFilters(filters, filter, more = {}) {
    const gone = this.state.filters.includes(filter) ? `Undone: ${this.filterText(filter)}` : '';
    const { analysis, state } = this, text = () => gone || this.filterText(filter);
    const change = () => {
      const tree = analysis.tree(state), path = pathOf(tree, nodeByRanks(tree, state.zoom));
      const whole = analysis.tree({ ...state, filters, zoom: '' });
      this.set({ filters, zoom: rankPath(whole, nodeByFrames(whole, path)), ...more }, true);
      this.say(`${text()}. Total ${byId('total').textContent}.`);
    };
    if (analysis.profile.sampleCount < MANY_SAMPLES) {
      change();
    } else {
      // It takes seconds: the message is drawn first.
      this.say(`${text()} …`);
      setTimeout(change, 50);
    }
  }

  /** @param {[string, string]} wanted */
  findFilter(wanted) {
    return this.state.filters.find((one) => one.join(' ') === wanted.join(' '));
  }

  /** Adds a filter of the selected function. @param {string} kind */
  filterBySelected(kind) {
    const { selected, filters } = this.state, filter = /** @type {[string, string]} */ ([kind, `=${selected}`]);
    if (!selected) {
      this.say('Select a function first.');
    } else if (!this.findFilter(filter)) {
      this.setFilters([...filters, filter], filter, /merge|ignore/.test(kind) ? { selected: '' } : {});
    }
  }

  /** @param {string} text */
  toggleLabel(text) {
    const filter = /** @type {[string, string]} */ (['labels', text]), known = this.findFilter(filter);
    if (known) {
      this.removeFilter(known);
    } else {
      this.setFilters([...this.state.filters, filter], filter);
    }
  }

  /** @param {[string, string]|undefined} filter */
  removeFilter(filter) {
    if (filter) {
      this.setFilters(this.state.filters.filter((one) => one !== filter), filter);
      if (document.activeElement === document.body) {
        this.view.focus();
      }
    }
  }

  /** What a filter did to stacks, as a cost; '' if it chose samples. */
  filterCost(filter) {
    const cost = this.analysis.groups(this.state)[0].costs?.get(filter.join(' '));
    return cost === undefined ? '' : costText(cost, this.analysis.totals(this.state)[0], this.unit);
  }

  filterText(filter) {
    return `${FILTERS[filter[0]][0]} ${filter[1].replace(/^=/, '')} ${this.filterCost(filter)}`.trim();
  }

  // ---- details and actions ----

  makeActions() {
    byId('detail-actions').replaceChildren(...this.actions().map(([text, key, onclick, title = text]) =>
      el('button', { type: 'button', title: `${title} (${key})`, text, onclick })));
  }

  /** What to do with the selection: text, key, action, title. @returns {[string, string, () => void, string?][]} */
  actions() {
    return [
      ['Sandwich', 's', () => this.open('sandwich')], ['Graph', 'g', () => this.open('graph')],
      ['Source', 'l', () => this.open('source')],
      ...Object.entries(FILTERS).slice(1).map(([kind, [, text, key, title]]) => /** @type {any} */ (
        [text, key, () => this.filterBySelected(kind), title])),
      ['Copy stack', 'c', () => this.copyStack()],
    ];
  }

  /** @param {import('./details.mjs').Detail|null} detail */
  describe(detail) {
    if (detail) {
      showDetail(detail);
      return;
    }
    const frame = this.selectedFrame();
    showDetail(frame < 0 ? { title: '', place: HINT, figures: [] } : this.frameDetail(frame));
  }

  /** What a function costs, wherever it occurs. @param {number} frame @returns {import('./details.mjs').Detail} */
  frameDetail(frame) {
    const { state, analysis } = this, [total] = analysis.totals(state), [own, base] = analysis.frameTotals(state);
    const figures = /** @type {[string, string][]} */ ([['cum', costText(own.cum[frame], total, this.unit)],
      ['flat', costText(own.flat[frame], total, this.unit)]]);
    if (base) {
      figures.push(['change of cum', changeText(own.cum[frame], base.cum[frame], this.unit)]);
    }
    return { title: analysis.frames.labels[frame], place: this.placeOf(frame), figures };
  }

  /** @param {string} text */
  say(text) {
    const element = byId('message');
    element.textContent = text;
    clearTimeout(this.messageTimer);
    this.messageTimer = setTimeout(() => element.replaceChildren(), 4000);
  }

  async copyStack() {
    const frames = this.view.stack ? this.view.stack() : [];
    const text = (frames.length ? frames.slice().reverse() : [this.state.selected]).filter(Boolean).join('\n');
    if (!text) {
      this.say('Select a frame first.');
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      this.copyBySelection(text);
    }
    this.say(frames.length ? `Copied ${frames.length} frames, the leaf first.` : 'Copied the name.');
  }

  /** For pages that may not use the clipboard. @param {string} text */
  copyBySelection(text) {
    const field = el('textarea', { class: 'visually-hidden' });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }

  saveProfile() {
    saveFile(this.file.name || 'profile.pb.gz', /** @type {any} */ (this.file.bytes), 'application/octet-stream');
  }

  saveSvg() {
    const { state, analysis } = this, tree = analysis.tree(state), [total] = analysis.totals(state);
    const root = nodeByRanks(tree, state.zoom);
    const text = flameSvg({
      tree, root, fill: this.palette(tree).fill, upwards: state.grow === 'flame', dark: this.dark,
      label: (node) => (node ? analysis.frames.labels[tree.frame[node]] : 'all'),
      cost: (node) => `${label(tree.total[node], this.unit)} (${percent(tree.total[node], total)})`,
      title: `${this.programName()}, ${this.type}: ${label(total, this.unit)}`,
    });
    saveFile(`${this.programName()}.svg`, text, 'image/svg+xml');
  }

  // ---- dialogs ----

  /** @param {string} title @param {...Node} content */
  showDialog(title, ...content) {
    const dialog = byId('dialog');
    dialog.replaceChildren(el('form', { method: 'dialog' }, el('h2', { text: title }),
      el('button', { type: 'submit', text: 'Close', class: 'close' })), ...content);
    dialog.showModal();
  }

  showHelp() {
    this.showDialog('Keys', ...KEYS.map(([title, keys]) => el('section', {}, el('h3', { text: title }),
      el('dl', { class: 'keys' }, ...keys.flatMap(([key, text]) => [
        el('dt', {}, ...key.split(/ {2,}/).map((one) => el('kbd', { text: one }))), el('dd', { text })])))));
  }

  showAbout() {
    const { profile, base } = this.analysis, types = this.types.map(({ type, unit }) => `${type}/${unit}`);
    const rows = [
      ['File', this.file.name], ['Program', this.programName()], ['Sample types', types.join(', ')],
      ['Samples', String(profile.sampleCount)], ['Locations', String(profile.locationCount)],
      ['Time', profile.timeNanos ? dateText(profile.timeNanos) : ''],
      ['Duration', profile.durationNanos ? label(profile.durationNanos, 'nanoseconds') : ''],
      ['Period', profile.period ? `${label(profile.period, profile.periodType.unit)} ${profile.periodType.type}` : ''],
      ['Compared with', base ? `${base.sampleCount} samples` : ''],
      ...profile.comments.filter((comment) => !comment.startsWith('#')).map((comment) => ['Comment', comment]),
    ];
    this.showDialog('About this profile', el('dl', { class: 'facts' }, ...rows.filter(([, text]) => text)
      .flatMap(([term, text]) => [el('dt', { text: term }), el('dd', { text })])));
  }

  // ---- keyboard ----

  /** @param {KeyboardEvent} event */
  onkey(event) {
    if (byId('dialog').open || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches('input[type=search], select, textarea')) {
      this.keyInField(event, target);
      return;
    }
    const pressesButton = target.matches('button, input') && (event.key === 'Enter' || event.key === ' ');
    if (!pressesButton && (this.key(event) || this.shownViews.some((view) => view.key(event)))) {
      event.preventDefault();
    }
  }

  /** @param {KeyboardEvent} event @param {HTMLElement} field */
  keyInField(event, field) {
    if (event.key !== 'Escape' && !(event.key === 'Enter' && field.id === 'search')) {
      return;
    }
    event.preventDefault();
    if (field.id === 'search') {
      clearTimeout(this.searchTimer);
      this.set({ search: event.key === 'Escape' ? '' : byId('search').value });
    }
    field.blur();
    this.view.focus();
    if (event.key === 'Enter' && this.view.nextMatch) {
      this.view.nextMatch(1);
    }
  }

  /** Keys that mean the same in every view. @param {KeyboardEvent} event */
  key(event) {
    const action = [
      ...this.actions(), ...VIEWS.map(([name], i) => ['', String(i + 1), () => this.open(name)]),
      ['', '/', () => byId('search').select()], ['', '?', () => this.showHelp()], ['', 't', () => this.nextType()],
      ['', 'd', () => this.nextTheme()], ['', 'u', () => this.removeFilter(this.state.filters.at(-1))],
      ['', 'p', () => this.saveProfile()], ['', 'v', () => this.saveSvg()],
    ].find(([, key]) => key === event.key);
    action?.[2]();
    return Boolean(action);
  }
}

// ---- start ----

/** The profile of an element of the page. @param {string} id */
function embedded(id) {
  const element = byId(id);
  if (!element) {
    return null;
  }
  const bytes = decodeBase64(element.textContent);
  const name = element.dataset.name || '';
  element.remove();
  return { bytes, name };
}

/**
 * The profile that the page's address names; it comes from the same server, and is asked for with the parameters of the
 * page that are meant for it.
 * @param {string} id
 */
async function fetched(id) {
  const parameters = new URLSearchParams(location.search);
  const named = parameters.get(id);
  if (!named) {
    return null;
  }
  const url = new URL(named, location.href);
  for (const key of id === 'profile' ? ['seconds', 'rate', 'hz', 'gc', 'labels'] : []) {
    if (parameters.has(key)) {
      url.searchParams.set(key, parameters.get(key) || '');
    }
  }
  const response = await fetch(url);
  if (!response.ok) {
    const why = (await response.text()).slice(0, 200).trim();
    throw new Error(`${url}: the server answered ${response.status} ${response.statusText}. ${why}`);
  }
  return { bytes: new Uint8Array(await response.arrayBuffer()), name: baseName(url.pathname) };
}

/** @param {{bytes: Uint8Array, name: string}|null} file */
async function decodeFile(file) {
  return file ? decodeProfile(await gunzip(file.bytes)) : null;
}

async function start() {
  const file = embedded('profile') || await fetched('src') || await fetched('profile');
  if (!file) {
    throw new Error('there is no profile in this page. `cpprof flame FILE` writes one with it.');
  }
  const base = embedded('base') || await fetched('base');
  const analysis = new Analysis(/** @type {any} */ (await decodeFile(file)), await decodeFile(base));
  const app = new App(analysis, file);
  byId('loading').remove();
  app.restore();
  requestAnimationFrame(() => {
    document.body.dataset.drawn = String(performance.now());
    document.body.dataset.ready = 'yes';
  });
}

start().catch((error) => {
  byId('loading').replaceChildren(el('strong', { text: 'This profile cannot be shown' }), el('p', { text: error.message }));
  document.body.dataset.ready = 'failed';
});
