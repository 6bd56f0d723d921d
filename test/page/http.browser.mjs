// SPDX-License-Identifier: MIT
//
// http.browser.mjs: a reader at /debug/pprof/ of a running program: the list of profiles, and from there the page, which
// fetches its profile from the program. The program is test/e2e/victims/web_guest.c.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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
  assert.deepEqual(rows, ['allocs', 'block', 'heap', 'mutex', 'thread', 'threadcreate', 'profile']);
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
  guest.removeAllListeners('exit');
  const ended = new Promise((resolve) => guest.once('exit', resolve));
  guest.stdin.end();
  assert.equal(await ended, 7);
});
