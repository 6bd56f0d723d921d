// SPDX-License-Identifier: MIT
//
// changes.browser.mjs: hiding and merging functions in the page, by keyboard and by mouse.

import assert from 'node:assert/strict';
import test from 'node:test';

import { frameAt, hashOf, makePage, open, textOf } from './opened.mjs';
import { ProfileWriter, profileOf } from './profile_writer.mjs';

/** main calls parse (60), which calls read (20), and draw (40). */
const address = makePage('changes', profileOf([['parse', 'main'], 40], [['read', 'parse', 'main'], 20], [['draw', 'main'], 40]));

/** What is announced to screen readers: the text of the element that is a live region all the time. */
const said = (page) => page.value(`(() => {
  const message = document.getElementById('message'), { display, visibility } = getComputedStyle(message);
  return message.role === 'status' && display !== 'none' && visibility === 'visible' ? message.innerText : 'nothing';
})()`);

const flags = (page) => page.value("[...document.querySelectorAll('#chips .chip')].map((chip) => chip.innerText.split(/\\s+/).join(' '))");

/** The names in the flame graph's rows, at the left edge. */
async function leftNames(page, rows) {
  const names = [];
  for (let row = 1; row <= rows; row++) {
    await page.move(...await frameAt(page, row, 0.02));
    names.push(await textOf(page, '#detail-title'));
  }
  return names;
}

test('m merges the selected function, u brings it back, and both are said', async () => {
  const page = await open(`${address}#selected=parse`);
  await page.key('m');
  assert.equal(await said(page), 'merged parse 60 (60.00%). Total 100.');
  assert.deepEqual(await hashOf(page), { merge: '=parse' });
  assert.deepEqual(await flags(page), ['merged parse 60 (60.00%) ×']);
  assert.equal(await textOf(page, '#total'), '100', 'the samples are all there');
  assert.deepEqual(await leftNames(page, 2), ['main', 'draw']);
  await page.move(...await frameAt(page, 1, 0.02));
  assert.match(await textOf(page, '#detail-figures'), /total\s*100 \(100%\)\s*self\s*40 \(40\.00%\)/);
  await page.key('u');
  assert.equal(await said(page), 'Undone: merged parse 60 (60.00%). Total 100.');
  assert.deepEqual(await hashOf(page), {});
  assert.deepEqual(await leftNames(page, 2), ['main', 'parse']);
  await page.close();
});

test('C, R, F, f and x do what they say, and undo in the order in which they came', async () => {
  const page = await open(`${address}#selected=parse`);
  await page.keys('C');
  assert.equal(await said(page), 'collapsed parse 20 (20.00%). Total 100.');
  await page.key('R');
  assert.equal(await said(page), 'recursion of parse 0 (0%). Total 100.');
  await page.key('f');
  assert.equal(await said(page), 'only parse. Total 60 of 100.');
  await page.keys('f', 'F');
  assert.equal(await said(page), 'from parse 60 (60.00%). Total 60 of 100.');
  assert.deepEqual(await leftNames(page, 1), ['parse']);
  assert.equal((await flags(page)).length, 4, 'a filter is there once');
  for (const kind of ['from', 'only', 'recursion of', 'collapsed']) {
    await page.key('u');
    assert.match(await said(page), new RegExp(`^Undone: ${kind} parse`));
  }
  await page.key('u');
  assert.deepEqual(await hashOf(page), { selected: 'parse' });
  await page.key('x');
  assert.equal(await said(page), 'without parse. Total 40 of 100.');
  await page.key('m');
  assert.equal(await said(page), 'Select a function first.');
  await page.close();
});

test('the browser goes back, and the URL opens the same again', async () => {
  const page = await open(`${address}#selected=draw`);
  await page.keys('m');
  const merged = await page.value('location.hash');
  await page.value('history.back()');
  await page.until("location.hash === '#selected=draw'");
  await page.until("document.getElementById('chips').hidden");
  const other = await open(`${address.replace(/#.*/, '')}${merged}`);
  assert.deepEqual(await flags(other), ['merged draw 40 (40.00%) ×']);
  await page.close();
  await other.close();
});

test('buttons and flags do it, too, and the keyboard stays where it was', async () => {
  const page = await open(address);
  await page.click(...await frameAt(page, 2, 0.1));
  await page.clickOn('#detail-actions [title^="Hide what this function calls"]');
  assert.deepEqual(await hashOf(page), { collapse: '=parse', selected: 'parse', zoom: '0*2' }, 'the zoom stays at its frame');
  await page.tabTo('#detail-actions [title^="Hide this function:"]');
  await page.key('Enter');
  assert.deepEqual(await hashOf(page), { collapse: '=parse', merge: '=parse', zoom: '0' }, 'or at its caller');
  await page.tabTo('#chips .chip');
  await page.key('Enter');
  assert.deepEqual(await flags(page), ['merged parse 60 (60.00%) ×']);
  assert.equal(await page.value('document.activeElement.className'), 'chip', 'at the next flag');
  await page.key('Enter');
  assert.equal(await page.value("document.activeElement === document.querySelector('.flame canvas')"), true, 'at the view, if there is none');
  await page.close();
});

test('every view has the changed stacks', async () => {
  const page = await open(`${address}#merge=%3Dparse&selected=main`);
  await page.key('2');
  const rows = await page.value("[...document.querySelectorAll('#view-table .rows .row')].map((row) => row.innerText.split(/\\s+/).join(' '))");
  assert.deepEqual(rows.map((row) => row.replace(' victim', '')).sort(),
    ['20 20.00% 20 20.00% read', '40 40.00% 100 100% main', '40 40.00% 40 40.00% draw']);
  await page.key('3');
  await page.move(...await frameAt(page, 1, 0.5, '#view-sandwich section:last-child canvas'));
  assert.equal(await textOf(page, '#detail-title'), 'read');
  await page.key('4');
  assert.deepEqual((await page.value("[...document.querySelectorAll('#view-graph .name')].map((name) => name.textContent)")).sort(),
    ['draw', 'main', 'read']);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('with many samples the page says what it begins to do', async () => {
  const writer = new ProfileWriter();
  for (let i = 0; i < 200000; i++) {
    writer.add({ stack: [`a${i % 1000}`, `b${Math.floor(i / 1000)}`, 'parse', 'main'], value: 1 });
  }
  const page = await open(`${makePage('many', writer.finish())}#selected=parse`);
  await page.value(`(() => {
    const message = document.getElementById('message');
    window.texts = [];
    new MutationObserver(() => window.texts.push(message.textContent)).observe(message, { childList: true });
  })()`);
  await page.key('m');
  await page.until("window.texts.length > 1");
  assert.deepEqual(await page.value('window.texts'),
    ['merged parse …', 'merged parse 200000 (100%). Total 200000.']);
  assert.deepEqual(await hashOf(page), { merge: '=parse' });
  await page.close();
});
