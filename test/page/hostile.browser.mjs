// SPDX-License-Identifier: MIT
//
// hostile.browser.mjs: profiles whose writer means harm, or made a mistake.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';

import { browser, emptyPage, makePage, open, textOf, work } from './opened.mjs';
import { bytes, message, number, ProfileWriter, profileOf } from './profile_writer.mjs';

const VIEWS = ['1', '2', '3', '4', '5', '6'];

/** A page with bytes that cpprof would not put into it. */
function pageWith(name, data) {
  const element = `<script type="application/octet-stream;base64" id="profile" data-name="x">${data.toString('base64')}</script>`;
  writeFileSync(join(work, name), emptyPage().replace('</body>', () => `${element}</body>`));
  return `file://${join(work, name)}`;
}

test('names that are HTML are shown as they are', async () => {
  const names = ['</script><script>window.hit = 1</script>', '<img src=x onerror="window.hit = 1">',
    '"><svg onload="window.hit = 1">', "javascript:window.hit=1//", '\u202eright to left', 'a\u0000b', '__proto__', 'constructor'];
  const writer = new ProfileWriter();
  writer.mapping = '/usr/bin/<b>victim</b>';
  names.forEach((name, i) => writer.add({ stack: [`${name}@<i>file</i>:${i + 1}`, 'main'], value: 1 + i,
    labels: { [name]: name } }));
  const page = await open(makePage('html', writer.put(number(13, writer.string('<b>comment</b>'))).finish()));
  for (const name of names) {
    await page.value(`location.hash = ${JSON.stringify(new URLSearchParams({ selected: name }).toString())}`);
    for (const view of VIEWS) {
      await page.key(view);
    }
  }
  await page.clickOn('#about');
  assert.match(await textOf(page, '#dialog'), /<b>comment<\/b>/);
  assert.equal(await page.value('window.hit'), undefined);
  assert.equal(await page.value("document.querySelectorAll('img, main script, main b, main i').length"), 0);
  assert.deepEqual(page.errors, []);
  await page.close();
});

const BROKEN = {
  'a string index out of range': Buffer.concat([bytes(6, ''), message(5, number(1, 1), number(2, 99))]),
  'no profile': Buffer.from('hello, world'),
  'nothing': Buffer.from([]),
  'a sample of an unknown location': new ProfileWriter().put(message(2, bytes(1, [9]), bytes(2, [1]))).finish(),
  'gzip that is cut': gzipSync(profileOf([['a'], 1])).subarray(0, 30),
};

for (const [what, data] of Object.entries(BROKEN)) {
  test(`${what} is refused with the byte`, async () => {
    const page = await browser.page();
    assert.equal(await page.open(pageWith('broken.html', data)), 'failed');
    assert.match(await textOf(page, '#loading'), /This profile cannot be shown\s+byte \d+: expected /);
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test('a gzip bomb is refused', async () => {
  const page = await browser.page();
  assert.equal(await page.open(pageWith('bomb.html', gzipSync(Buffer.alloc(400 << 20)))), 'failed');
  assert.match(await textOf(page, '#loading'), /at most 402653184 bytes, found more/);
  await page.close();
});

test('a stack of ten million frames is shown', async () => {
  const writer = new ProfileWriter();
  const ids = [writer.locationId('leaf'), writer.locationId('again')];
  const stack = Buffer.alloc(1e7, ids[1]);
  stack[0] = ids[0];
  writer.samples.push(message(2, bytes(1, stack), bytes(2, [5])));
  const page = await open(pageWith('deep.html', gzipSync(writer.finish())));
  for (const view of VIEWS) {
    await page.key(view);
  }
  await page.key('2');
  assert.match(await textOf(page, '#view-table .rows'), /5\s+100%\s+5\s+100%\s+leaf/);
  for (const [kind, rows] of Object.entries({ recursion: 2, merge: 1, collapse: 1, root: 2 })) {
    await page.value(`location.hash = 'view=table&${kind}=%3Dagain'`);
    await page.until(`document.querySelectorAll('#view-table .rows .row').length === ${rows} &&
      document.getElementById('chips').innerText.includes('5 (100%)') === ${kind !== 'root'}`);
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('an expression that takes forever is ignored', async () => {
  const writer = new ProfileWriter();
  writer.add({ stack: ['a'.repeat(60), 'main'], value: 3 }).put(number(7, writer.string('(a+)+b')));
  const page = await open(makePage('forever', writer.finish()));
  assert.equal(await textOf(page, '#total'), '3');
  await page.close();
});

test('values of 2^63 are shown', async () => {
  const large = (1n << 63n) - 1n;
  const page = await open(pageWith('large.html', profileOf([['a', 'main'], large], [['b', 'main'], -large], [['c'], -large - 1n])));
  for (const view of VIEWS) {
    await page.key(view);
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('a profile without samples, and one without sample types', async () => {
  const page = await open(pageWith('empty.html', new ProfileWriter().finish()));
  for (const view of VIEWS) {
    await page.key(view);
  }
  assert.deepEqual(page.errors, []);
  assert.equal(await page.open(pageWith('none.html', bytes(6, ''))), 'failed');
  assert.match(await textOf(page, '#loading'), /the profile is empty/);
  await page.close();
});

test('nonsense in the URL does no harm', async () => {
  const page = await open(`${makePage('plain', profileOf([['a', 'main'], 3]))}` +
    '#view=x&type=y&colour=label:z&zoom=9.9*9999999&selected=nobody&search=(&focus=(&labels=q&sort=z&theme=%22&normalize=1');
  for (const view of VIEWS) {
    await page.key(view);
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});
