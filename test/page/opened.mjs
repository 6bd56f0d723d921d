// SPDX-License-Identifier: MIT
//
// opened.mjs: what the tests in Chromium share: one browser, and profiles that `cpprof flame` made into pages.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

import { Chromium } from './chromium.mjs';

const { BUILD } = process.env;
export const work = mkdtempSync(join(tmpdir(), 'page-'));
export const browser = new Chromium();

after(async () => {
  await browser.close();
  rmSync(work, { recursive: true });
});

/** Writes a profile, and with it the page. Returns the page's address. */
export function makePage(name, profile, base = null, options = []) {
  const file = join(work, `${name}.pb`), out = join(work, `${name}.html`), old = join(work, `${name}.old.pb`);
  writeFileSync(file, profile);
  if (base) {
    writeFileSync(old, base);
  }
  execFileSync(join(BUILD, 'bin/cpprof'), ['flame', '-o', out, ...(base ? ['--base', old] : []), ...options, file]);
  return `file://${out}`;
}

/** Opens a page that shows its profile without a complaint. */
export async function open(address, options = {}) {
  const page = await browser.page(options);
  assert.equal(await page.open(address), 'yes');
  await page.settle();
  return page;
}

/** The page as the build made it, without a profile. */
export function emptyPage() {
  return readFileSync(join(BUILD, 'cmd/page/page.html'), 'utf8');
}

/** What a reader sees of an element. */
export const textOf = (page, selector) => page.value(`document.querySelector(${JSON.stringify(selector)}).innerText`);

export const hashOf = async (page) =>
  Object.fromEntries(new URLSearchParams((await page.value('location.hash')).slice(1)));

/** The middle of a row of the flame graph, at a part of its width. */
export async function frameAt(page, row, part, selector = '#view-flame .flame canvas') {
  const [x, y, width] = await page.value(`(() => {
    const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return [box.x, box.y, box.width];
  })()`);
  return [x + width * part, y + row * 20 + 10];
}

/** The controls that no scrolling brings into the window, by what they say. */
export const unreachable = (page) => page.value(`[...document.querySelectorAll('button, select, input')].filter((one) => {
  one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return one.checkVisibility() && (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight);
}).map((one) => one.innerText || one.id)`);
