// SPDX-License-Identifier: MIT
//
// axe.mjs: see axe.sh. $AXE names axe.min.js.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { makePage, open } from '../page/opened.mjs';
import { ProfileWriter } from '../page/profile_writer.mjs';

const axe = readFileSync(process.env.AXE, 'utf8');
const VIEWS = ['flame', 'table', 'sandwich', 'graph', 'source', 'labels', 'both'];

const long = `${'very_long_name::'.repeat(124)}of_2000_characters`;

function profile(share) {
  const writer = new ProfileWriter([['samples', 'count'], ['cpu', 'nanoseconds']]);
  const add = (stack, count, labels = {}) => writer.add({ stack, values: [count, count * 1e7], labels });
  add(['parse@src/parse.c:12', 'main@src/main.c:5'], 40, { tenant: 'acme' });
  add(['read@src/read.c:3', 'parse@src/parse.c:14', 'main@src/main.c:5'], 20 * share, { tenant: 'bolt', [long]: long });
  add([`${long}@${long}:9`, 'parse@src/parse.c:14', 'main@src/main.c:6'], 40, {});
  add([null, 'main@src/main.c:6'], 3, {});
  for (let i = 0; i < 60; i++) {
    add([`leaf_${i}`, ...Array.from({ length: 60 }, (_, depth) => `level_${depth}`), 'main@src/main.c:7'], 1);
  }
  return writer.finish();
}

/** What axe finds, a line for each. */
const findings = (page) => page.value(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) =>
    id + ': ' + help + ': ' + target + ': ' + failureSummary)))`);

const pages = {
  'a profile': makePage('one', profile(1)),
  'a difference': makePage('two', profile(1), profile(2)),
};

for (const [what, address] of Object.entries(pages)) {
  for (const [width, height] of [[1600, 900], [390, 844]]) {
    for (const dark of [false, true]) {
      test(`axe finds nothing in ${what}, ${width} x ${height}, ${dark ? 'dark' : 'light'}`, async () => {
        const page = await open(`${address}#${new URLSearchParams([['merge', '=read'], ['focus', '=main'], ['recursion', `=${long}`],
          ['selected', 'parse'], ['search', 'parse']])}`, { width, height, dark });
        await page.value(`${axe}; 0`);
        for (const [i, view] of VIEWS.entries()) {
          await page.key(String(i + 1));
          assert.deepEqual(await findings(page), [], view);
        }
        for (const id of ['help', 'about']) {
          await page.clickOn(`#${id}`);
          assert.deepEqual(await findings(page), [], id);
          await page.clickOn('#dialog .close');
        }
        assert.deepEqual(page.errors, []);
        await page.close();
      });
    }
  }
}
