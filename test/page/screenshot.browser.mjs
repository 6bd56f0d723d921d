// SPDX-License-Identifier: MIT
//
// screenshot.browser.mjs: tools/make-screenshot.mjs makes a picture that shows something, as the one in docs/ does.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { browser, work } from './opened.mjs';

const { SRC } = process.env;

/** The size of a picture, how many colours it has, and the largest share that one of them has. */
async function look(file) {
  const page = await browser.page();
  const address = `data:image/png;base64,${readFileSync(file).toString('base64')}`;
  const seen = await page.value(`(async () => {
    const picture = new Image();
    picture.src = ${JSON.stringify(address)};
    await picture.decode();
    const { width, height } = picture;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(picture, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer), counts = new Map();
    pixels.forEach((pixel) => counts.set(pixel, (counts.get(pixel) || 0) + 1));
    return { width, height, colours: counts.size, most: Math.max(...counts.values()) / pixels.length };
  })()`);
  await page.close();
  return seen;
}

async function expectPicture(file) {
  const { width, height, colours, most } = await look(file);
  assert.deepEqual([width, height], [1280, 600]);
  assert.ok(colours >= 100, `${colours} colours`);
  assert.ok(most < 0.8, `${most} of the picture has one colour`);
  assert.ok(readFileSync(file).length <= 300 * 1024, `${readFileSync(file).length} bytes`);
}

test('the picture in docs/ shows the page', () => expectPicture(join(SRC, 'docs/page.png')));

test('tools/make-screenshot.mjs makes such a picture', async () => {
  const file = join(work, 'page.png');
  execFileSync(join(SRC, 'tools/make-screenshot.mjs'), [file]);
  await expectPicture(file);
});
