// SPDX-License-Identifier: MIT
//
// views.browser.mjs: the page as a reader uses it, by mouse and by keyboard.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';

import { stateFill } from '../../cmd/page/colours.mjs';
import { browser, emptyPage, frameAt, hashOf, makePage, open, textOf, work } from './opened.mjs';
import { ProfileWriter } from './profile_writer.mjs';

/** main calls parse (60), which calls read (20), and draw (40); cpu is ten times samples. */
function example() {
  const writer = new ProfileWriter([['samples', 'count'], ['cpu', 'nanoseconds']]);
  const add = (stack, count, labels) => writer.add({ stack, values: [count, count * 1e7], labels });
  add(['parse@src/parse.c:12', 'main@src/main.c:5'], 40, { tenant: 'acme' });
  add(['read@src/read.c:3', 'parse@src/parse.c:14', 'main@src/main.c:5'], 20, { tenant: 'bolt' });
  add(['draw@src/draw.c:9', 'main@src/main.c:6'], 40, {});
  return writer.finish();
}

const address = makePage('example', example());

test('the page opens with the flame graph, the total and no complaint', async () => {
  const page = await open(address);
  assert.equal(await textOf(page, '#title'), 'victim');
  assert.equal(await textOf(page, '#total'), '1s');
  assert.equal(await textOf(page, '#tabs [aria-current=page]'), 'Flame graph');
  assert.equal(await page.value("document.querySelectorAll('script[id]').length"), 0);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('a type without samples is named, with the types that have some', async () => {
  const writer = new ProfileWriter([['alloc_objects', 'count'], ['alloc_space', 'bytes'], ['inuse_space', 'bytes']]);
  writer.add({ stack: ['leaf', 'main'], values: [2, 4096, 0] });
  const page = await open(makePage('freed', writer.finish()));
  const said = () => page.value("document.getElementById('empty').hidden ? '' : document.getElementById('empty').textContent");
  assert.equal(await said(), 'No samples of inuse_space; there are some of alloc_objects, alloc_space.');
  for (const key of '123456') {
    await page.key(key);
    assert.notEqual(await said(), '', `view ${key}`);
  }
  await page.key('t');
  assert.equal(await said(), '', 'alloc_objects has samples');
  assert.deepEqual(page.errors, []);
  await page.close();

  const chosen = await open(makePage('chosen', writer.finish(), null, ['--sample', 'alloc_space']));
  assert.equal(await textOf(chosen, '#total'), '4kB');
  await chosen.close();

  const none = await open(makePage('none', new ProfileWriter([['cpu', 'nanoseconds']]).finish()));
  assert.equal(await textOf(none, '#empty'), 'No samples.');
  assert.deepEqual(none.errors, []);
  await none.close();
});

test('a wall-clock profile has the colours of states, and a bar where a frame has several', async () => {
  const writer = new ProfileWriter([['samples', 'count'], ['wall', 'nanoseconds']]);
  writer.add({ stack: ['lock', 'main'], values: [3, 3e9], labels: { state: 'lock' } });
  writer.add({ stack: ['work', 'main'], values: [1, 1e9], labels: { state: 'running' } });
  const file = makePage('wall', writer.finish());
  for (const dark of [false, true]) {
    const page = await open(file, { dark });
    const pixel = (row, part, y) => page.value(`(() => {
      const canvas = document.querySelector('#view-flame .flame canvas'), ratio = canvas.width / canvas.clientWidth;
      const at = [canvas.width * ${part}, (${row} * 20 + ${y}) * ratio].map(Math.round);
      return '#' + [...canvas.getContext('2d').getImageData(...at, 1, 1).data].slice(0, 3)
        .map((one) => one.toString(16).padStart(2, '0')).join('');
    })()`);
    const [lock, running] = ['lock', 'running'].map((state) => stateFill(state, dark));
    const both = [await pixel(1, 0.5, 2), await pixel(1, 0.7, 17), await pixel(1, 0.8, 17), await pixel(1, 0.8, 2)];
    assert.deepEqual(both, [lock, lock, running, lock], 'main');
    assert.deepEqual([await pixel(2, 0.5, 17), await pixel(2, 0.9, 2)], [lock, running], 'what main calls');
    assert.match(await textOf(page, '.colour-key'), /lock\s*75.00%\s*running\s*25.00%/);
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

test('the pointer shows what a frame costs', async () => {
  const page = await open(address);
  await page.move(...await frameAt(page, 2, 0.1));
  assert.equal(await textOf(page, '#detail-title'), 'parse');
  assert.match(await textOf(page, '#detail-figures'), /total\s*600ms \(60\.00%\)\s*self\s*400ms \(40\.00%\)/);
  assert.equal(await textOf(page, '#detail-place'), 'victim · src/parse.c');
  await page.close();
});

test('a click zooms, Escape and the browser go back', async () => {
  const page = await open(address);
  await page.click(...await frameAt(page, 2, 0.1));
  assert.deepEqual(await hashOf(page), { selected: 'parse', zoom: '0*2' });
  await page.move(...await frameAt(page, 3, 0.1));
  assert.equal(await textOf(page, '#detail-title'), 'read');
  await page.key('Escape');
  assert.deepEqual(await hashOf(page), { selected: 'parse' });
  await page.value('history.back()');
  await page.until("location.hash.includes('zoom')");
  await page.settle();
  await page.move(...await frameAt(page, 2, 0.9));
  assert.equal(await textOf(page, '#detail-title'), 'parse', 'it is as wide as the picture');
  await page.close();
});

test('arrow keys select, Enter zooms, c copies the stack', async () => {
  const page = await open(address);
  await page.value("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
  await page.keys('1', 'ArrowDown', 'ArrowDown');
  assert.equal(await textOf(page, '#detail-title'), 'parse');
  await page.key('ArrowRight');
  assert.equal(await textOf(page, '#detail-title'), 'draw');
  await page.key('ArrowRight');
  assert.equal(await textOf(page, '#detail-title'), 'draw', 'there is none on the right');
  await page.keys('ArrowLeft', 'ArrowDown');
  assert.equal(await textOf(page, '#detail-title'), 'read');
  await page.key('c');
  assert.equal(await page.value('copied'), 'read\nparse\nmain');
  await page.keys('ArrowUp', 'Enter');
  assert.equal((await hashOf(page)).zoom, '0*2');
  await page.key('Backspace');
  assert.equal((await hashOf(page)).zoom, '0');
  await page.close();
});

test('bottom up and upside down', async () => {
  const page = await open(address);
  await page.key('r');
  await page.move(...await frameAt(page, 1, 0.9));
  assert.equal(await textOf(page, '#detail-title'), 'read');
  await page.keys('r', 'i');
  const [x] = await frameAt(page, 0, 0.9);
  const bottom = await page.value("document.querySelector('#view-flame .flame canvas').getBoundingClientRect().bottom");
  await page.move(x, bottom - 50);
  assert.equal(await textOf(page, '#detail-title'), 'draw');
  assert.deepEqual(await hashOf(page), { grow: 'flame' });
  await page.close();
});

test('a search shows its share, and goes from match to match', async () => {
  const page = await open(address);
  await page.key('/');
  await page.type('^(read|draw)$');
  await page.key('Enter');
  assert.equal(await textOf(page, '#search-result'), '60.00% matched');
  assert.equal(await textOf(page, '#detail-title'), 'draw');
  await page.key('n');
  assert.equal(await textOf(page, '#detail-title'), 'read');
  await page.key('N');
  assert.equal(await textOf(page, '#detail-title'), 'draw');
  await page.keys('/', '(');
  await page.until("document.getElementById('search').getAttribute('aria-invalid') === 'true'");
  await page.key('Escape');
  assert.equal((await hashOf(page)).search, undefined);
  await page.close();
});

const rows = (page) => page.value(`[...document.querySelectorAll('#view-table .rows .row')].map((row) =>
  [...row.querySelectorAll('.cell')].map((cell) => cell.innerText).join(' '))`);

test('the table sorts, filters, and opens the sandwich', async () => {
  const page = await open(address);
  await page.key('2');
  assert.deepEqual(await rows(page), [
    '400ms 40.00% 400ms 40.00% draw victim', '400ms 40.00% 600ms 60.00% parse victim',
    '200ms 20.00% 200ms 20.00% read victim', '0 0% 1000ms 100% main victim']);
  await page.clickOn('#view-table [role=columnheader]:nth-child(3) button');
  assert.match((await rows(page))[0], /main/);
  assert.equal(await page.value("document.querySelector('#view-table [aria-sort=descending]').innerText"), 'cum ▾');
  await page.clickOn('#view-table input');
  await page.type('a[di]');
  assert.deepEqual((await rows(page)).length, 2);
  await page.keys('Escape', 'ArrowDown', 'Enter');
  assert.deepEqual(await hashOf(page), { view: 'sandwich', sort: 'cum', filter: 'a[di]', selected: 'read' });
  assert.match(await textOf(page, '#view-sandwich .tools'), /^read\s*flat 200ms \(20\.00%\)\s*cum 200ms \(20\.00%\)$/);
  await page.close();
});

test('the sandwich has callers above and callees beneath', async () => {
  const page = await open(`${address}#view=sandwich&selected=parse`);
  await page.move(...await frameAt(page, 1, 0.1, '#view-sandwich section:last-child canvas'));
  assert.equal(await textOf(page, '#detail-title'), 'read');
  const bottom = await page.value("document.querySelector('#view-sandwich canvas').getBoundingClientRect().bottom");
  await page.move(300, bottom - 30);
  assert.equal(await textOf(page, '#detail-title'), 'main');
  assert.match(await textOf(page, '#detail-figures'), /total\s*600ms/);
  await page.close();
});

test('the graph goes from function to function', async () => {
  const page = await open(`${address}#view=graph&selected=parse`);
  const boxes = () => page.value("[...document.querySelectorAll('#view-graph .box .name')].map((box) => box.textContent)");
  assert.deepEqual((await boxes()).sort(), ['main', 'parse', 'read']);
  await page.keys('4', 'ArrowLeft', 'Enter');
  assert.equal((await hashOf(page)).selected, 'main');
  assert.deepEqual((await boxes()).sort(), ['draw', 'main', 'parse', 'read']);
  await page.clickOn('#view-graph .box:last-of-type');
  assert.notEqual((await hashOf(page)).selected, 'main');
  await page.close();
});

test('the source view has the lines that cost anything', async () => {
  const page = await open(`${address}#view=source&selected=parse`);
  assert.deepEqual(await page.value(`[...document.querySelectorAll('#view-source .hot')].map((row) =>
    row.innerText.split(/\\s+/).filter(Boolean).join(' '))`), ['400ms 400ms 12', '. 200ms 14']);
  await page.close();
});

test('labels filter, and colour the flame graph', async () => {
  const page = await open(`${address}#view=labels`);
  assert.deepEqual(await page.value("[...document.querySelectorAll('.label-row .name')].map((one) => one.innerText)"),
    ['acme', 'bolt']);
  await page.clickOn('.label-row');
  assert.equal(await textOf(page, '#total'), '400ms of 1s');
  assert.match(await textOf(page, '#chips'), /tenant=acme/);
  await page.clickOn('#chips .chip');
  assert.equal(await textOf(page, '#total'), '1s');
  await page.clickOn('.label-row', 1);
  assert.equal(await textOf(page, '#total'), '600ms of 1s', 'with Alt all others');
  await page.key('u');
  await page.clickOn('#view-labels h2 button');
  assert.deepEqual(await hashOf(page), { colour: 'label:tenant' });
  assert.match(await textOf(page, '.colour-key'), /acme\s*40\.00%\s*bolt\s*20\.00%\s*none or another/);
  await page.close();
});

test('only and without', async () => {
  const page = await open(`${address}#selected=parse`);
  await page.key('f');
  assert.equal(await textOf(page, '#total'), '600ms of 1s');
  await page.keys('u', 'x');
  assert.equal(await textOf(page, '#total'), '400ms of 1s');
  await page.close();
});

test('t takes the next sample type', async () => {
  const page = await open(address);
  await page.key('t');
  assert.deepEqual(await hashOf(page), { type: 'samples' });
  assert.equal(await textOf(page, '#total'), '100');
  await page.close();
});

/** The lightness of the page's paper, from 0 to 255. */
const paper = async (page) => Number((await page.value('getComputedStyle(document.body).backgroundColor')).match(/\d+/)[0]);

test('dark and light are the system\'s, or the reader\'s', async () => {
  const light = await open(address);
  assert.ok(await paper(light) > 200);
  await light.keys('d', 'd');
  assert.deepEqual(await hashOf(light), { theme: 'dark' });
  assert.ok(await paper(light) < 60);
  await light.close();
  const dark = await open(address, { dark: true });
  assert.ok(await paper(dark) < 60);
  assert.equal(await dark.value(`(() => {
    const canvas = document.querySelector('.flame canvas');
    return canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height - 4, 1, 1).data[0] < 60;
  })()`), true);
  await dark.close();
});

test('a difference has both sides', async () => {
  const old = new ProfileWriter([['samples', 'count'], ['cpu', 'nanoseconds']]);
  old.add({ stack: ['parse', 'main'], values: [20, 2e8] }).add({ stack: ['gone', 'main'], values: [10, 1e8] });
  const page = await open(makePage('difference', example(), old.finish()));
  assert.equal(await textOf(page, '#total'), '1s, before 300ms');
  await page.move(...await frameAt(page, 2, 0.1));
  assert.match(await textOf(page, '#detail-figures'), /before\s*200ms \(66\.67%\)\s*change\s*\+400ms \(\+200\.0%\)/);
  assert.match(await textOf(page, '.colour-key'), /grew\s*as before\s*shrank/);
  await page.clickOn('.check input');
  assert.equal(await textOf(page, '#total'), '1s, before 1s');
  await page.key('2');
  assert.match((await rows(page)).find((row) => row.includes('gone')), /-333\.33ms/);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('? lists the keys, Escape closes the list', async () => {
  const page = await open(address);
  await page.key('?');
  assert.equal(await page.value("document.getElementById('dialog').open"), true);
  await page.key('2');
  assert.deepEqual(await hashOf(page), {}, 'keys mean nothing behind it');
  await page.clickOn('#dialog .close');
  assert.equal(await page.value("document.getElementById('dialog').open"), false);
  await page.close();
});

test('the profile and an SVG can be saved', async () => {
  const page = await open(address);
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: work, eventsEnabled: true });
  const done = () => new Promise((resolve) => browser.listeners.push(({ method, params }) =>
    (method === 'Browser.downloadProgress' && params.state === 'completed' ? resolve() : null)));
  let saved = done();
  await page.key('v');
  await saved;
  const svg = readFileSync(join(work, 'victim.svg'), 'utf8');
  assert.match(svg, /<title>parse: 600ms \(60\.00%\)<\/title>/);
  saved = done();
  await page.key('p');
  await saved;
  await page.close();
});

test('the keyboard stays at the control that it used', async () => {
  const page = await open(address);
  await page.value("document.querySelectorAll('#view-flame .segmented button')[1].focus()");
  await page.key('Enter');
  assert.deepEqual(await hashOf(page), { order: 'up' });
  assert.equal(await page.value('document.activeElement.innerText'), 'Bottom up');
  assert.equal(await page.value('document.activeElement.ariaPressed'), 'true');
  await page.close();
});

test('every view opens by its number, and is drawn', async () => {
  const page = await open(address);
  for (const [i, name] of ['flame', 'table', 'sandwich', 'graph', 'source', 'labels'].entries()) {
    await page.key(String(i + 1));
    assert.equal(await page.value(`document.querySelector('.view:not([hidden])').id`), `view-${name}`);
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('a page without a profile fetches it from its server', async () => {
  const profile = gzipSync(example());
  const server = createServer((request, response) => {
    const isProfile = request.url.startsWith('/debug/pprof/profile');
    response.setHeader('content-type', isProfile ? 'application/octet-stream' : 'text/html; charset=utf-8');
    response.end(isProfile ? profile : emptyPage());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `http://127.0.0.1:${server.address().port}`;
  const page = await open(`${host}/debug/pprof/flame?src=profile%3Fseconds%3D1`);
  assert.equal(await textOf(page, '#total'), '1s');
  assert.equal(await page.open(`${host}/flame?src=http://127.0.0.1:1/x`), 'failed', 'no other server');
  assert.equal(await page.open(`${host}/flame`), 'failed');
  assert.match(await textOf(page, '#loading'), /there is no profile in this page/);
  await page.close();
  server.close();
});
