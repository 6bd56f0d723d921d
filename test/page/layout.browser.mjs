// SPDX-License-Identifier: MIT
//
// layout.browser.mjs: the overview, the table beside the flame graph, narrow windows, and paper.

import assert from 'node:assert/strict';
import test from 'node:test';

import { frameAt, hashOf, makePage, open, textOf, unreachable } from './opened.mjs';
import { ProfileWriter, profileOf } from './profile_writer.mjs';

const deep = Array.from({ length: 150 }, (_, i) => `level_${149 - i}`);
const address = makePage('layout', profileOf([[...deep, 'left', 'main'], 60], [['right', 'main'], 40]));

const overview = (page) => page.value("document.querySelector('.overview canvas').ariaLabel");

/** A place in the overview, in parts of its width and height. */
async function inOverview(page, x, y) {
  const [left, top, width, height] = await page.value(`(() => {
    const box = document.querySelector('.overview canvas').getBoundingClientRect();
    return [box.x, box.y, box.width, box.height];
  })()`);
  return [left + width * x, top + height * y];
}

/** The colour of the overview at a place. */
const pixel = (page, x, y) => page.value(`(() => {
  const canvas = document.querySelector('.overview canvas');
  return [...canvas.getContext('2d').getImageData(canvas.width * ${x}, canvas.height * ${y}, 1, 1).data].join(' ');
})()`);

test('the overview shows the whole, and which part of it the flame graph shows', async () => {
  const page = await open(address);
  const rows = (await overview(page)).match(/shows 100% of the width, ([\d.]+)% of the rows$/)[1];
  assert.ok(rows > 5 && rows < 40, `${rows} % of 153 rows fit`);
  const before = await pixel(page, 0.9, 0.01);
  await page.click(...await frameAt(page, 2, 0.1));
  assert.match(await overview(page), /shows 60\.00% of the width/);
  assert.notEqual(await pixel(page, 0.9, 0.01), before, 'what is not shown is faded');
  await page.key('Escape');
  assert.match(await overview(page), /shows 100% of the width/);
  assert.equal(await pixel(page, 0.9, 0.01), before);
  await page.close();
});

test('a click in the overview brings that place to the middle, and dragging goes on', async () => {
  const page = await open(address);
  await page.click(...await frameAt(page, 2, 0.9));
  await page.click(...await inOverview(page, 0.2, 0.01));
  await page.move(...await frameAt(page, 2, 0.5));
  assert.equal(await textOf(page, '#detail-title'), 'left');
  await page.click(...await inOverview(page, 0.2, 0.99));
  const bottom = await page.value("document.querySelector('.flame canvas').getBoundingClientRect().bottom");
  await page.move(300, bottom - 10);
  assert.equal(await textOf(page, '#detail-title'), 'level_149', 'the last row is at the bottom');
  const at = { button: 'left', buttons: 1 };
  const [x, y] = await inOverview(page, 0.2, 0.5), [toX, toY] = await inOverview(page, 0.9, 0.01);
  await page.send('Input.dispatchMouseEvent', { type: 'mousePressed', x, y, clickCount: 1, ...at });
  await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: toX, y: toY, ...at });
  await page.send('Input.dispatchMouseEvent', { type: 'mouseReleased', x: toX, y: toY, ...at });
  await page.settle();
  await page.move(...await frameAt(page, 2, 0.9));
  assert.equal(await textOf(page, '#detail-title'), 'right');
  await page.close();
});

test('the overview grows upwards as the flame graph does', async () => {
  const page = await open(`${address}#grow=flame`);
  const paper = await pixel(page, 0.9, 0.01);
  assert.notEqual(await pixel(page, 0.9, 0.97), paper, 'the root is at the bottom');
  await page.click(...await inOverview(page, 0.2, 0.01));
  await page.move(...await frameAt(page, 0, 0.2));
  assert.equal(await textOf(page, '#detail-title'), 'level_149');
  await page.close();
});

test('what is narrow comes after a click that zooms', async () => {
  const stacks = Array.from({ length: 30000 }, (_, i) => [[`leaf${i}`, `narrow${i}`, `middle${i % 3}`, 'main'], 1]);
  const page = await open(makePage('narrow', profileOf(...stacks)));
  const [x, y] = await frameAt(page, 2, 0.5);
  await page.click(x, y);
  assert.match(await overview(page), /33\.33% of the width/);
  const [, leafY] = await frameAt(page, 4, 0.5);
  for (let tries = 0; tries < 600 && !/^leaf/.test(await textOf(page, '#detail-title')); tries++) {
    await page.move(x + (tries % 2), leafY);
  }
  assert.match(await textOf(page, '#detail-title'), /^leaf/);
  assert.deepEqual(page.errors, []);
  await page.close();
});

const selectedRow = (page) => page.value("document.querySelector('#view-table [aria-selected=true] .name').innerText");
const box = (page, selector) => page.value(`(({ left, right, top, bottom }) => ({ left, right, top, bottom }))(
  document.querySelector('${selector}').getBoundingClientRect())`);

test('table and flame graph are side by side, and one selection is that of both', async () => {
  const page = await open(address, { width: 1600, height: 900 });
  await page.key('7');
  assert.deepEqual(await hashOf(page), { view: 'both' });
  const [flame, table] = [await box(page, '#view-flame'), await box(page, '#view-table')];
  assert.ok(flame.right <= table.left && flame.top === table.top && table.right - table.left > 500, JSON.stringify([flame, table]));
  await page.click(...await frameAt(page, 2, 0.9));
  assert.equal(await selectedRow(page), 'right');
  await page.keys('1', '7');
  await page.key('ArrowLeft');
  assert.equal(await selectedRow(page), 'left', 'arrows are those of the flame graph, which has the keyboard');
  await page.tabTo('#view-table .scroller');
  await page.key('Home');
  const first = await selectedRow(page);
  await page.key('ArrowDown');
  assert.notEqual(await selectedRow(page), first);
  assert.equal(await textOf(page, '#detail-title'), await selectedRow(page));
  await page.key('Escape');
  assert.equal((await hashOf(page)).zoom, undefined, 'a key that the table does not know is for the flame graph');
  await page.close();
});

test('the names of functions have room beside the flame graph, of a difference too', async () => {
  const one = profileOf([['left', 'main'], 60], [['right', 'main'], 40]), both = makePage('both', one, profileOf([['left', 'main'], 9]));
  for (const [place, width] of [[address, 1600], [address, 1280], [both, 1600], [both, 1280]]) {
    const page = await open(`${place}#view=both&selected=left`, { width, height: 800 });
    const [name, table] = [await box(page, '#view-table .rows .name'), await box(page, '#view-table')];
    assert.ok(name.right <= table.right && name.right - name.left >= 120, JSON.stringify([width, name, table]));
    assert.deepEqual(await page.value(`[...document.querySelectorAll('#detail-figures .figure')].filter((one) =>
      one.getBoundingClientRect().right > document.querySelector('.detail').getBoundingClientRect().right).length`), 0);
    await page.close();
  }
});

test('the row of a frame that is selected comes into view', async () => {
  const page = await open(`${address}#view=both&sort=name`, { width: 1600, height: 500 });
  await page.click(...await frameAt(page, 2, 0.9));
  const [row, scroller] = [await box(page, '#view-table [aria-selected=true]'), await box(page, '#view-table .scroller')];
  assert.ok(row.top >= scroller.top && row.bottom <= scroller.bottom, JSON.stringify([row, scroller]));
  await page.close();
});

test('the keyboard alone leads everywhere', async () => {
  const page = await open(`${address}#view=both&selected=left&focus=main`);
  const all = await page.value(`[...document.querySelectorAll('button, select, input, [tabindex]')].filter((one) => one.checkVisibility()).length`);
  const seen = new Set();
  for (let tries = 0; tries < all + 3; tries++) {
    await page.key('Tab');
    seen.add(await page.value(`[...document.querySelectorAll('button, select, input, [tabindex]')].indexOf(document.activeElement)`));
  }
  seen.delete(-1);
  assert.equal(seen.size, all, 'each control has its turn');
  await page.tabTo('#view-flame .flame canvas');
  const before = await overview(page);
  await page.keys('ArrowDown', 'ArrowDown', 'Enter');
  assert.match(await overview(page), /60\.00% of the width/);
  await page.key('PageDown');
  assert.notEqual(await overview(page), before);
  await page.keys('ArrowDown', 'm', 'u', 'Backspace', '0', 'r', 'i', 'd', 't', '?', 'Escape', '/', 'Escape');
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('on a phone nothing is cut off, and every control can be reached', async () => {
  const page = await open(address, { width: 390, height: 844 });
  for (const view of '1234567') {
    await page.key(view);
    assert.deepEqual(await unreachable(page), [], `view ${view}`);
  }
  const [flame, table] = [await box(page, '#view-flame'), await box(page, '#view-table')];
  assert.ok(flame.bottom <= table.top + 1 && flame.right === 390, JSON.stringify([flame, table]));
  assert.deepEqual(await page.value("[...document.querySelectorAll('#view-table .row:not(.head)')][0].innerText.split(/\\s+/)"),
    ['60', '60', 'level_149']);
  await page.close();
});

test('paper is light, has the flame graph and the rows, and no controls', async () => {
  const page = await open(`${address}#view=both&theme=dark`, { dark: true });
  const paper = () => page.value('getComputedStyle(document.body).backgroundColor');
  const corner = () => page.value("[...document.querySelector('.flame canvas').getContext('2d').getImageData(2, 400, 1, 1).data].join(' ')");
  const rows = () => page.value("document.querySelectorAll('#view-table .rows .row').length");
  const [screen, screenCorner] = [await paper(), await corner()];
  await page.value(`addEventListener('afterprint', () => { window.printed = true; });
    addEventListener('beforeprint', () => { window.onPaper = [getComputedStyle(document.body).backgroundColor,
      [...document.querySelector('.flame canvas').getContext('2d').getImageData(2, 400, 1, 1).data].join(' '),
      document.querySelectorAll('#view-table .rows .row').length]; })`);
  await page.send('Emulation.setEmulatedMedia', { media: 'print' });
  assert.deepEqual(await page.value(`[...document.querySelectorAll('button:not(.head *), .overview, #search')]
    .filter((one) => one.checkVisibility()).map((one) => one.id)`), [], 'controls that nobody can press on paper');
  await page.send('Emulation.setEmulatedMedia', { media: '' });
  await page.send('Page.printToPDF', {});
  await page.until('window.printed');
  const [paperFill, paperCorner, paperRows] = await page.value('window.onPaper');
  assert.equal(paperFill, 'rgb(255, 255, 255)');
  assert.notEqual(paperCorner, screenCorner);
  assert.equal(paperRows, 153, 'those too that the screen has no room for');
  assert.deepEqual([await paper(), await corner()], [screen, screenCorner], 'the screen is as before');
  assert.ok(await rows() < 60);
  await page.close();
});

test('names of 2000 characters fit', async () => {
  const name = `${'very_long_name::'.repeat(124)}of_2000_chars_`, writer = new ProfileWriter();
  writer.mapping = `/usr/${name}`;
  writer.add({ stack: [`${name}@${name}:1`, name, 'main'], value: 3, labels: { [name]: name } });
  for (const [width, height] of [[1600, 900], [390, 844]]) {
    const page = await open(makePage('names', writer.finish()), { width, height });
    await page.value(`location.hash = ${JSON.stringify(new URLSearchParams([['selected', name], ['recursion', `=${name}`],
      ['focus', `=${name}`], ['search', name]]).toString())}`);
    await page.until("!document.getElementById('chips').hidden");
    for (const view of '1234567') {
      await page.key(view);
      const [beyond, below] = await page.value(`[document.documentElement.scrollWidth - innerWidth,
        document.documentElement.scrollHeight - innerHeight]`);
      assert.ok(beyond <= 0 && below <= 0, `view ${view} at ${width}: ${beyond}, ${below}`);
      assert.deepEqual(await unreachable(page), [], `view ${view} at ${width}`);
      const room = await page.value("document.getElementById('main').clientHeight");
      assert.ok(room > height / 3, `view ${view} at ${width}: ${room} pixels high`);
    }
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});
