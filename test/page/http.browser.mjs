// SPDX-License-Identifier: MIT
//
// http.browser.mjs: a reader at /debug/pprof/ of a running program: the list of profiles, and from there the page, which
// fetches its profile from the program; and a page of another site, which gets the browser to ask. The program is
// test/e2e/victims/web_guest.c.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';

import { browser, textOf } from './opened.mjs';

const { BUILD } = process.env;

/** Starts the program; its address comes by the log. */
function startGuest() {
  const guest = spawn(join(BUILD, 'test/victims/web_guest'), {
    env: { ...process.env, LIBPPROF: 'http=127.0.0.1:0,heap:1', LD_PRELOAD: join(BUILD, 'lib/libpprof.so.0') },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  test.after(() => guest.kill()); // a guest that lives keeps this process alive, also after a failure
  guest.stderr.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    let said = '';
    guest.stderr.on('data', (text) => {
      said += text;
      const found = said.match(/http:\/\/[^ ]*\/debug\/pprof\//);
      if (found) {
        resolve({ guest, url: found[0] });
      }
    });
    guest.on('exit', () => reject(new Error(`the program ended: ${said}`)));
  });
}

async function endGuest(guest) {
  guest.removeAllListeners('exit');
  const ended = new Promise((resolve) => guest.once('exit', resolve));
  guest.stdin.end();
  assert.equal(await ended, 7);
}

async function keep(page, name) {
  if (process.env.SCREENSHOTS) {
    const { data } = await page.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(join(process.env.SCREENSHOTS, `${name}.png`), Buffer.from(data, 'base64'));
  }
}

test('the list of profiles leads to the page of each', async () => {
  const { guest, url } = await startGuest();
  const page = await browser.page();
  await page.send('Page.navigate', { url });
  await page.until('document.querySelectorAll("table tr").length >= 8');
  const rows = await page.value('[...document.querySelectorAll("tbody tr")].map((row) => row.cells[1].innerText.split("\\n")[0])');
  assert.deepEqual(rows, ['allocs', 'block', 'heap', 'mutex', 'thread', 'threadcreate', 'wall', 'profile']);
  assert.deepEqual(page.errors.filter((error) => !/favicon/.test(error) && !/404/.test(error)), []);
  await keep(page, 'index');

  for (const [link, name] of [['flame?profile=heap', 'keep_memory'], ['flame?profile=thread', 'wait_for_end'],
    ['flame?profile=profile&seconds=1', 'burn_cpu']]) {
    const address = await page.value(`[...document.links].find((link) => link.href.endsWith("/debug/pprof/${link}") ||
      ${link.includes('seconds')} && link.href.includes("flame?profile=profile")).href`);
    const opened = await browser.page();
    assert.equal(await opened.open(address.replace('seconds=10', 'seconds=1')), 'yes', address);
    await opened.key('2');
    await opened.settle();
    assert.notEqual(await textOf(opened, '#total'), '', link);
    assert.ok((await opened.value('document.body.innerText')).includes(name), `${link} shows ${name}`);
    assert.deepEqual(opened.errors, []);
    await keep(opened, link.replace(/\W/g, '_'));
    await opened.close();
  }

  assert.equal(await page.open(`${url}flame?profile=block`), 'yes', 'a profile without samples');
  assert.equal(await textOf(page, '#empty'), 'No samples.');
  assert.deepEqual(page.errors.filter((error) => !/favicon|404/.test(error)), []);
  assert.equal(await page.open(`${url}flame?profile=nope`), 'failed');
  assert.match(await textOf(page, '#loading'), /the server answered 404 Not Found. Unknown profile/);
  await page.close();
  await endGuest(guest);
});

/** A site at another port of this machine, whose page has these contents. */
function serve(contents) {
  const site = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>a site</title><body>${contents}`);
  });
  return new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(site)));
}

test('a page of another site gets nothing collected', async () => {
  const { guest, url } = await startGuest();
  const targets = ['profile?seconds=600&hz=1000000', 'heap?seconds=600&rate=1', 'delta_heap',
    'flame?profile=profile&seconds=600', ''];
  const site = await serve(targets.map((target, i) => `<a id=a${i} href="${url}${target}">${target}</a>`).join(' '));
  const address = `http://127.0.0.1:${site.address().port}/`;
  const page = await browser.page();
  const go = async (i) => {
    await page.send('Page.navigate', { url: address });
    await page.until('document.title === "a site"');
    await page.value(`document.getElementById("a${i}").click()`);
  };

  // What the page fetches by itself: an answer that came at once is a refusal. A frame of the list would be for clicks
  // that the reader means for something else.
  await page.send('Page.navigate', { url: address });
  await page.until('document.title === "a site"');
  for (const target of targets.slice(0, 2)) {
    assert.equal(await page.value(`fetch("${url}${target}", { mode: 'no-cors' }).then((got) => got.type)`), 'opaque', target);
    assert.equal(await page.value(`new Promise((done) => {
      const image = new Image();
      image.onerror = () => done('error');
      image.src = "${url}${target}";
    })`), 'error', target);
  }
  await page.value(`new Promise((done) => {
    const frame = document.createElement('iframe');
    frame.onload = done;
    frame.src = "${url}";
    document.body.append(frame);
  })`);
  const { frameTree } = await page.send('Page.getFrameTree');
  const framed = frameTree.childFrames?.[0].frame;
  assert.ok(!framed || framed.mimeType === 'text/plain', 'a frame has the list');

  for (let i = 0; i < 4; i++) {
    await go(i);
    await page.until('document.body.innerText.includes("a page of another site asks for this")');
  }
  // The list may be linked to. What it links to, and what the user types, is the user's own wish.
  await go(4);
  await page.until('document.querySelectorAll("table tr").length >= 8');
  await page.value('[...document.links].find((link) => link.href.endsWith("flame?profile=heap")).click()');
  assert.equal(await page.until("document.body && document.body.dataset.ready || ''"), 'yes');
  assert.equal(await page.open(`${url}flame?profile=thread`), 'yes');
  await page.close();
  site.close();
  await endGuest(guest);
});
