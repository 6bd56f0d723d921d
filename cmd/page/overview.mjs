// SPDX-License-Identifier: MIT
//
// overview.mjs: the whole flame graph, small, with a frame around the part that the large one shows. A click, or dragging,
// brings a place into the middle of the large one.
//
// The picture is drawn when the tree, its colours or the width change; the frame with each drawing of the large one.

import { el } from './dom.mjs';
import { ROW } from './flame_canvas.mjs';
import { percent } from './format.mjs';

/** The height of a row, in pixels, where there is room for all of them. */
const SMALL_ROW = 3;

export class Overview {
  /** @param {HTMLElement} host @param {import('./flame_canvas.mjs').FlameCanvas} large */
  constructor(host, large) {
    this.host = host;
    this.large = large;
    this.canvas = el('canvas', { role: 'img', onpointerdown: (event) => this.go(event), onpointermove: (event) =>
      (event.buttons ? this.go(event) : null) });
    this.picture = el('canvas');
    host.replaceChildren(this.canvas);
    /** @type {any[]} what the picture was made of */
    this.made = [];
  }

  /** The height of the picture. */
  get height() {
    return Math.min(this.host.clientHeight, this.large.rows * SMALL_ROW);
  }

  draw() {
    const { large, canvas, host, picture } = this, { look, tree, ratio } = large, width = host.clientWidth;
    const made = [tree, look.fill, look.matched, look.dark, look.upwards, width, host.clientHeight, ratio];
    if (!width) {
      return;
    }
    if (made.some((one, i) => one !== this.made[i])) {
      this.made = made;
      for (const one of [canvas, picture]) {
        one.width = Math.round(width * ratio);
        one.height = Math.round(host.clientHeight * ratio);
      }
      this.drawPicture(picture.getContext('2d'));
    }
    const context = canvas.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(picture, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawFrame(context, width);
  }

  /** @param {CanvasRenderingContext2D} context */
  drawPicture(context) {
    const { large, height } = this, { tree, look, rows, ratio, colours } = large, scale = this.host.clientWidth / (tree.width[0] || 1);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, this.host.clientWidth, this.host.clientHeight);
    const each = Math.max(1, Math.ceil(rows / (height || 1))), size = (height / rows) * each;
    for (let depth = 0; depth < rows; depth += each) {
      const top = (depth / rows) * height, end = tree.rowBegin[depth + 1];
      for (let node = tree.rowBegin[depth]; node < end;) {
        const from = tree.x[node] * scale, to = Math.max(from + tree.width[node] * scale, from + 1);
        context.fillStyle = large.fillOf(node);
        context.fillRect(from, look.upwards ? height - top - size : top, to - from, size);
        node = Math.max(node + 1, large.firstBeyond(depth, to / scale, node));
      }
    }
  }

  /** Fades what the large one does not show. @param {CanvasRenderingContext2D} context @param {number} width */
  drawFrame(context, width) {
    const { large, height } = this, { left, right, tree, rows, scroll, look, colours } = large, whole = tree.width[0] || 1;
    const all = rows * ROW, part = Math.min(1, large.height / all), top = scroll / all;
    const x = (left / whole) * width, w = Math.max(((right - left) / whole) * width, 2);
    const y = (look.upwards ? 1 - top - part : top) * height, h = part * height;
    const shown = `Overview: the flame graph shows ${percent(right - left, whole)} of the width, ${percent(part, 1)} of the rows`;
    if (this.canvas.ariaLabel !== shown) {
      this.canvas.ariaLabel = shown;
    }
    if (w >= width && part === 1) {
      return;
    }
    context.globalAlpha = 0.55;
    context.fillStyle = colours.paper;
    context.beginPath();
    context.rect(0, 0, width, this.host.clientHeight);
    context.rect(x, y, w, h);
    context.fill('evenodd');
    context.globalAlpha = 1;
    context.strokeStyle = colours.outline;
    context.strokeRect(x + 0.5, y + 0.5, w - 1, Math.max(h - 1, 1));
  }

  /** @param {PointerEvent} event */
  go({ offsetX, offsetY, pointerId }) {
    const { large, canvas, height } = this, down = offsetY / height;
    canvas.setPointerCapture(pointerId);
    large.centre((offsetX / this.host.clientWidth) * large.tree.width[0], large.look.upwards ? 1 - down : down);
  }
}
