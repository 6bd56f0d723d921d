// SPDX-License-Identifier: MIT
//
// flame_canvas.mjs: a flame graph on a canvas.
//
// The part that is shown is [left, right) in units of width, and rows from `scroll` pixels on. A row of the tree is
// sorted by x, so a frame that is drawn costs one binary search for each row and one step for each visible node. Nodes
// narrower than a pixel and a half are drawn together.

import { el } from './dom.mjs';
import { themeColours } from './colours.mjs';
import { depthOf } from './tree.mjs';

export const ROW = 20;

/** How long the picture moves to another part, in milliseconds. */
export const MOTION = 160;
const FONT = '12px system-ui, sans-serif';
const TINY = 1.5;
const PADDING = 5;
const BAR = 4;

/**
 * @typedef {object} Handlers
 * @property {(node: number) => void} onhover    -1: none
 * @property {(node: number) => void} onselect
 * @property {(node: number) => void} onzoom
 * @property {() => void} [ondraw]
 *
 * @typedef {object} Look
 * @property {(node: number) => string} fill
 * @property {(node: number) => [string, number][]} [parts]   colours of a node that has several, and their shares
 * @property {(node: number) => string} label
 * @property {Uint8Array|null} matched           for each frame
 * @property {number} selectedFrame              -1: none
 * @property {boolean} upwards                   the root is at the bottom
 * @property {boolean} dark
 * @property {boolean} withRoot
 * @property {boolean} [printing]
 */

export class FlameCanvas {
  /** @param {HTMLElement} host @param {Handlers} handlers @param {string} name */
  constructor(host, handlers, name) {
    this.handlers = handlers;
    this.canvas = el('canvas', { tabindex: 0, role: 'application', 'aria-label': name });
    host.replaceChildren(this.canvas);
    this.host = host;
    this.context = this.canvas.getContext('2d');
    /** @type {import('./tree.mjs').Tree|null} */
    this.tree = null;
    /** @type {Look} */
    this.look = /** @type {any} */ (null);
    this.left = 0;
    this.right = 1;
    this.scroll = 0;
    this.selected = -1;
    this.hovered = -1;
    this.zoomed = 0;
    this.zoomPath = '';
    this.pending = 0;
    /** @type {Map<string, string>} */
    this.texts = new Map();
    /** @type {Map<string, number>} */
    this.widths = new Map();
    new ResizeObserver(() => this.resize()).observe(host);
    // After the listener of the page, which shows the colours for paper.
    addEventListener('beforeprint', () => this.draw());
    this.listen();
  }

  // ---- what is shown ----

  /**
   * Shows a tree. `stay`: it is the one before with more or fewer narrow nodes.
   * @param {import('./tree.mjs').Tree} tree @param {Look} look
   */
  show(tree, look, stay = false) {
    const changed = tree !== this.tree;
    this.tree = tree;
    this.look = look;
    if (changed && stay) {
      this.hovered = -1;
    } else if (changed) {
      this.left = 0;
      this.right = tree.width[0] || 1;
      this.scroll = 0;
      this.selected = this.hovered = -1;
      this.zoomed = 0;
      this.zoomPath = '';
    }
    this.redraw();
  }

  get rows() {
    return this.tree ? this.tree.rowBegin.length - 1 - (this.look.withRoot ? 0 : 1) : 0;
  }

  /** The largest scroll. */
  get overflow() {
    return Math.max(0, this.rows * ROW - this.height);
  }

  /** The place of a row. @param {number} depth */
  rowTop(depth) {
    const row = (depth - (this.look.withRoot ? 0 : 1)) * ROW - this.scroll;
    return this.look.upwards ? this.height - row - ROW : row;
  }

  /** @param {number} y */
  depthAt(y) {
    const down = this.look.upwards ? this.height - y : y;
    return Math.floor((down + this.scroll) / ROW) + (this.look.withRoot ? 0 : 1);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.host.clientWidth;
    this.height = this.host.clientHeight;
    this.canvas.width = Math.max(1, Math.round(this.width * ratio));
    this.canvas.height = Math.max(1, Math.round(this.height * ratio));
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.ratio = ratio;
    this.scroll = Math.min(this.scroll, this.overflow);
    this.draw();
  }

  redraw() {
    if (!this.pending) {
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
    }
  }

  // ---- drawing ----

  draw() {
    if (!this.tree || !this.width) {
      return;
    }
    const { context, ratio, height } = this;
    this.colours = themeColours(this.look.dark);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colours.paper;
    context.fillRect(0, 0, this.width, height);
    context.font = FONT;
    context.textBaseline = 'middle';
    this.scale = this.width / (this.right - this.left);
    const first = this.depthAt(this.look.upwards ? height - 1 : 0), last = this.tree.rowBegin.length - 2;
    for (let depth = Math.max(first, this.look.withRoot ? 0 : 1); depth <= last; depth++) {
      const top = this.rowTop(depth);
      if (top > height || top < -ROW) {
        break;
      }
      this.drawRow(depth, top);
    }
    this.drawScrollbar();
    this.handlers.ondraw?.();
  }

  /** The first node of a row that ends beyond x. @param {number} depth @param {number} x @param {number} from */
  firstBeyond(depth, x, from = this.tree.rowBegin[depth]) {
    const { x: begin, width } = this.tree;
    let low = from, high = this.tree.rowBegin[depth + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[middle] + width[middle] <= x) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** @param {number} depth @param {number} top */
  drawRow(depth, top) {
    const { tree, left, right, scale } = this, end = tree.rowBegin[depth + 1];
    let node = this.firstBeyond(depth, left);
    while (node < end && tree.x[node] < right) {
      const begin = (tree.x[node] - left) * scale, width = tree.width[node] * scale;
      if (width >= TINY) {
        this.drawNode(node, top, Math.max(begin, 0), Math.min(begin + width, this.width), width);
        node++;
      } else {
        node = this.drawTiny(node, depth, top, begin);
      }
    }
  }

  /** Draws neighbours that are too narrow as one. Returns the node after them. */
  drawTiny(node, depth, top, begin) {
    const { tree, left, scale, context } = this, end = tree.rowBegin[depth + 1];
    const next = Math.max(this.firstBeyond(depth, left + (begin + TINY) / scale, node), node + 1);
    const last = Math.min(next, end) - 1;
    const finish = (tree.x[last] + tree.width[last] - left) * scale;
    const wide = tree.width[last] * scale >= TINY;
    const until = wide ? (tree.x[last] - left) * scale : finish;
    context.fillStyle = this.fillOf(node);
    context.fillRect(begin, top, Math.max(until - begin, 0.6), ROW - 1);
    return wide ? last : next;
  }

  /** @param {number} node */
  fillOf(node) {
    const { look, tree, colours } = this;
    if (look.matched && node > 0) {
      return look.matched[tree.frame[node]] ? colours.match : colours.faded;
    }
    return look.fill(node);
  }

  /** @param {number} node */
  textColour(node) {
    const { look, tree, colours } = this;
    if (look.matched && node > 0) {
      return look.matched[tree.frame[node]] ? colours.matchText : colours.fadedText;
    }
    return colours.text;
  }

  /** @param {number} node @param {number} top @param {number} from @param {number} to @param {number} width */
  drawNode(node, top, from, to, width) {
    const { context, tree, look } = this;
    const gap = width > 4 ? 1 : 0.4;
    context.fillStyle = this.fillOf(node);
    context.fillRect(from, top, to - from - gap, ROW - 1);
    if (look.parts && !look.matched && width > 4) {
      this.drawParts(look.parts(node), top, from, to - gap);
    }
    if (node === this.selected || node === this.hovered) {
      this.outline(from, top, to - gap, node === this.selected ? 2 : 1.5);
    } else if (look.selectedFrame >= 0 && tree.frame[node] === look.selectedFrame && to - from > 3) {
      this.outline(from, top, to - gap, 1);
    }
    const room = to - from - gap - 2 * PADDING;
    if (room > 12) {
      context.fillStyle = this.textColour(node);
      context.fillText(this.fit(look.label(node), room), from + PADDING, top + ROW / 2);
    }
  }

  /** A bar at the lower edge that has each colour of a node in proportion. @param {[string, number][]} parts */
  drawParts(parts, top, from, to) {
    const { context } = this;
    let at = from;
    for (const [colour, share] of parts) {
      context.fillStyle = colour;
      context.fillRect(at, top + ROW - 1 - BAR, (to - from) * share, BAR);
      at += (to - from) * share;
    }
  }

  outline(from, top, to, thickness) {
    const { context } = this;
    context.strokeStyle = this.colours.outline;
    context.lineWidth = thickness;
    const inset = thickness / 2;
    context.strokeRect(from + inset, top + inset, Math.max(to - from - thickness, 0.5), ROW - 1 - thickness);
  }

  /** As much of a label as there is room for. @param {string} label @param {number} room */
  fit(label, room) {
    let whole = this.widths.get(label);
    if (whole === undefined) {
      whole = this.context.measureText(label.slice(0, 400)).width;
      this.widths.set(label, whole);
    }
    if (whole <= room && label.length <= 400) {
      return label;
    }
    const length = Math.min(label.length, 400);
    const count = Math.floor((length * room) / whole);
    return count < 2 ? '' : this.cut(label, count, room);
  }

  /** @param {string} label @param {number} count @param {number} room */
  cut(label, count, room) {
    const key = `${count} ${label}`;
    let text = this.texts.get(key);
    if (text === undefined) {
      text = `${label.slice(0, count)}…`;
      while (count > 1 && this.context.measureText(text).width > room) {
        text = `${label.slice(0, --count)}…`;
      }
      text = count < 2 ? '' : text;
      if (this.texts.size > 20000) {
        this.texts.clear();
      }
      this.texts.set(key, text);
    }
    return text;
  }

  drawScrollbar() {
    if (!this.overflow || this.look.printing) {
      return;
    }
    const { context, height } = this;
    const length = Math.max(24, (height * height) / (height + this.overflow));
    const at = (this.scroll / this.overflow) * (height - length);
    context.fillStyle = this.look.dark ? 'rgb(255 255 255 / 35%)' : 'rgb(0 0 0 / 30%)';
    context.fillRect(this.width - 6, this.look.upwards ? height - at - length : at, 5, length);
  }

  // ---- moving ----

  /** Shows a part; goes there in steps unless the reader wants no motion. */
  moveTo(left, right) {
    const whole = this.tree.width[0] || 1;
    const width = Math.min(right - left, whole);
    const to = [Math.min(Math.max(left, 0), whole - width), 0];
    to[1] = to[0] + width;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      [this.left, this.right] = to;
      this.redraw();
      return;
    }
    this.animate(to);
  }

  /** @param {number[]} to */
  animate(to) {
    const from = [this.left, this.right], start = performance.now();
    const run = this.motion = {};
    const step = (/** @type {number} */ now) => {
      if (run !== this.motion) {
        return;
      }
      const part = Math.min(1, Math.max(0, (now - start) / MOTION)), eased = part * (2 - part);
      this.left = from[0] + (to[0] - from[0]) * eased;
      this.right = from[1] + (to[1] - from[1]) * eased;
      this.draw();
      if (part < 1) {
        requestAnimationFrame(step);
      } else {
        this.motion = null;
      }
    };
    requestAnimationFrame(step);
  }

  /** Sets the part at once, within the whole. @param {number} left @param {number} width */
  place(left, width) {
    const whole = this.tree.width[0] || 1;
    const shown = Math.min(Math.max(width, whole * 1e-9), whole);
    this.motion = null;
    this.left = Math.min(Math.max(left, 0), whole - shown);
    this.right = this.left + shown;
    this.redraw();
  }

  /** Zooms by a factor around a place of the canvas. @param {number} factor @param {number} at in pixels */
  zoomBy(factor, at = this.width / 2) {
    const span = this.right - this.left, part = at / this.width;
    const width = Math.min(span * factor, this.tree.width[0] || 1);
    this.place(this.left + span * part - width * part, width);
  }

  /** Brings a place of the whole to the middle. @param {number} x @param {number} y as a part of all rows */
  centre(x, y) {
    const span = this.right - this.left;
    this.place(x - span / 2, span);
    this.scroll = Math.min(Math.max(y * this.rows * ROW - this.height / 2, 0), this.overflow);
  }

  /** @param {number} part of what is shown */
  panBy(part) {
    const span = this.right - this.left;
    this.place(this.left + span * part, span);
  }

  /** @param {number} pixels */
  scrollBy(pixels) {
    this.scroll = Math.min(Math.max(this.scroll + pixels, 0), this.overflow);
    this.redraw();
  }

  /** @param {number} node */
  zoomTo(node) {
    const { x, width } = this.tree;
    this.zoomed = node;
    this.moveTo(x[node], x[node] + (width[node] || 1));
    this.reveal(node);
  }

  /** Brings a node's row into view. @param {number} node */
  reveal(node) {
    const row = (depthOf(this.tree, node) - (this.look.withRoot ? 0 : 1)) * ROW;
    if (row < this.scroll || row + ROW > this.scroll + this.height) {
      this.scroll = Math.min(Math.max(row - this.height / 3, 0), this.overflow);
    }
    this.redraw();
  }

  /** @param {number} node */
  select(node) {
    this.selected = node;
    this.redraw();
  }

  // ---- pointer ----

  /** @param {{offsetX: number, offsetY: number}} event */
  nodeAt({ offsetX, offsetY }) {
    if (!this.tree) {
      return -1;
    }
    const depth = this.depthAt(offsetY);
    if (depth < (this.look.withRoot ? 0 : 1) || depth >= this.tree.rowBegin.length - 1) {
      return -1;
    }
    const x = this.left + (offsetX / this.width) * (this.right - this.left);
    const node = this.firstBeyond(depth, x);
    return node < this.tree.rowBegin[depth + 1] && this.tree.x[node] <= x ? node : -1;
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('wheel', (/** @type {WheelEvent} */ event) => this.onwheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
      this.drag = { x: event.offsetX, y: event.offsetY, left: this.left, scroll: this.scroll, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => this.onmove(event));
    canvas.addEventListener('pointerup', (/** @type {PointerEvent} */ event) => this.onup(event));
    canvas.addEventListener('pointerleave', () => this.hover(-1));
    canvas.addEventListener('dblclick', (/** @type {MouseEvent} */ event) => {
      if (this.nodeAt(event) <= 0) {
        this.handlers.onzoom(0);
      }
    });
  }

  /** @param {WheelEvent} event */
  onwheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? ROW : 1;
    if (event.ctrlKey || event.metaKey) {
      this.zoomBy(Math.exp(event.deltaY * unit * 0.004), event.offsetX);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.panBy((((event.shiftKey ? event.deltaY : event.deltaX) || 0) * unit) / this.width);
    } else {
      this.scrollBy(event.deltaY * unit * (this.look.upwards ? -1 : 1));
    }
  }

  /** @param {PointerEvent} event */
  onmove(event) {
    const { drag } = this;
    if (!drag) {
      this.hover(this.nodeAt(event));
      return;
    }
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    drag.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (drag.moved) {
      const span = this.right - this.left;
      this.place(drag.left - (dx / this.width) * span, span);
      this.scroll = Math.min(Math.max(drag.scroll + (this.look.upwards ? dy : -dy), 0), this.overflow);
    }
  }

  /** @param {PointerEvent} event */
  onup(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved) {
      return;
    }
    const node = this.nodeAt(event);
    if (node >= 0) {
      this.handlers.onselect(node);
      this.handlers.onzoom(node);
    }
  }

  /** @param {number} node */
  hover(node) {
    if (node !== this.hovered) {
      this.hovered = node;
      this.canvas.style.cursor = node >= 0 ? 'pointer' : 'default';
      this.handlers.onhover(node);
      this.redraw();
    }
  }

  // ---- keyboard ----

  /** Handles a key; false if it means nothing here. @param {KeyboardEvent} event */
  key(event) {
    const down = this.look.upwards ? 'ArrowUp' : 'ArrowDown', up = this.look.upwards ? 'ArrowDown' : 'ArrowUp';
    switch (event.key) {
      case down: return this.step(this.child());
      case up: return this.step(this.tree.parent[Math.max(this.selected, 0)]);
      case 'ArrowLeft': return event.shiftKey ? this.panBy(-0.2) : this.step(this.neighbour(-1));
      case 'ArrowRight': return event.shiftKey ? this.panBy(0.2) : this.step(this.neighbour(1));
      case 'Enter': return this.handlers.onzoom(Math.max(this.selected, 0));
      case '+': case '=': return this.zoomBy(0.7);
      case '-': return this.zoomBy(1.4);
      case 'PageDown': return this.scrollBy(this.height * 0.8);
      case 'PageUp': return this.scrollBy(-this.height * 0.8);
      case 'Home': return this.step(this.look.withRoot ? 0 : 1);
      default: return false;
    }
  }

  /** The widest child of the selection. */
  child() {
    const node = Math.max(this.selected, 0);
    const first = this.tree.childBegin[node];
    return first < this.tree.childBegin[node + 1] ? first : -1;
  }

  /** @param {number} step */
  neighbour(step) {
    const node = this.selected + step;
    const depth = depthOf(this.tree, Math.max(this.selected, 0));
    return node >= this.tree.rowBegin[depth] && node < this.tree.rowBegin[depth + 1] ? node : -1;
  }

  /** @param {number} node */
  step(node) {
    if (node < 0 || node >= this.tree.count || (node === 0 && !this.look.withRoot)) {
      return;
    }
    const { x, width } = this.tree;
    this.handlers.onselect(node);
    if (x[node] + width[node] <= this.left || x[node] >= this.right) {
      this.place(x[node] + width[node] / 2 - (this.right - this.left) / 2, this.right - this.left);
    }
    this.reveal(node);
  }
}
