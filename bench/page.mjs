// SPDX-License-Identifier: MIT
//
// page.mjs NAME FILE: measures a page in Chromium (page.sh).

import { Chromium } from '../test/page/chromium.mjs';

const [name, file] = process.argv.slice(2);
const TIMES = process.env.BENCH === 'quick' ? 3 : 7;
const PICTURES = 120;

const middle = (numbers) => numbers.slice().sort((a, b) => a - b)[numbers.length >> 1];
const report = (what, value, unit, comment = '') =>
  console.log(`${name}_${what}.pprof ${value.toFixed(1)} ${unit}${comment && ` # ${comment}`}`);

/** The milliseconds between pictures while an event comes with each of them. */
function pictures(page, options) {
  return page.value(`(async () => {
    const canvas = document.querySelector('.flame canvas'), box = canvas.getBoundingClientRect(), times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < ${PICTURES}; i++) {
      const back = i < ${PICTURES / 2} ? 1 : -1, { deltaX = 0, deltaY = 0, ctrlKey = false } = ${JSON.stringify(options)};
      canvas.dispatchEvent(new WheelEvent('wheel', { deltaX: deltaX * back, deltaY: deltaY * back, ctrlKey,
        clientX: box.x + box.width / 3, clientY: box.y + 100, cancelable: true }));
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return times;
  })()`);
}

function search(page, text) {
  return page.value(`(async () => {
    const field = document.getElementById('search'), result = document.getElementById('search-result');
    const start = performance.now();
    result.textContent = '';
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event('input'));
    while (result.textContent === '') {
      await new Promise(requestAnimationFrame);
    }
    return performance.now() - start;
  })()`);
}

/** The milliseconds from an event to the picture that it leads to. @param {string} event @param {() => Promise<void>} act */
async function drawn(page, event, act) {
  await page.value(`window.drawn = new Promise((done) => addEventListener('${event}', () => {
    const start = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
  }, { capture: true, once: true }));
  0`);
  await act();
  return page.value('drawn');
}

const key = (page, name) => drawn(page, 'keydown', () => page.key(name));

/** Clicks in different frames of a row, each from the whole. */
async function clicks(page) {
  const times = [];
  for (let i = 0; i < TIMES; i++) {
    times.push(await drawn(page, 'pointerup', () => page.click(200 + 200 * i, 400)));
    await page.key('Escape');
  }
  return times;
}

/** Merges other functions, one after the other, each seen for the first time. */
async function merges(page) {
  const times = [];
  for (let i = 0; i < TIMES; i++) {
    await page.click(1000, 400);
    await page.key('Escape');
    times.push(await key(page, 'm'));
  }
  return times;
}

const spread = (times) => `${Math.min(...times).toFixed(0)} .. ${Math.max(...times).toFixed(0)}`;

const browser = new Chromium();
const opened = [];
for (let i = 0; i < TIMES; i++) {
  const page = await browser.page({ width: 1920, height: 1080 });
  await page.open(`file://${file}`);
  opened.push(await page.value('Number(document.body.dataset.drawn)'));
  if (i === TIMES - 1) {
    report('open', middle(opened), 'ms', spread(opened));
    for (const [what, times] of [['click', await clicks(page)], ['side_by_side', [await key(page, '7')]], ['merge', await merges(page)]]) {
      report(what, middle(times), 'ms', spread(times));
    }
    await page.value("location.hash = ''");
    await page.settle();
    await page.value(`document.querySelector('.flame canvas').dispatchEvent(new WheelEvent('wheel',
      { deltaY: -300, ctrlKey: true, clientX: 400, clientY: 300, cancelable: true }))`);
    for (const [what, options] of [['zoom', { deltaY: -20, ctrlKey: true }], ['pan', { deltaX: 20 }], ['scroll', { deltaY: 10 }]]) {
      const times = await pictures(page, options), slow = times.sort((a, b) => a - b)[Math.floor(PICTURES * 0.95)];
      report(what, middle(times), 'ms', `95 % of the pictures within ${slow.toFixed(1)}`);
    }
    const searches = [];
    for (const text of ['1', '12', 'package_3', 'function.*9$', 'number_4']) {
      searches.push(await search(page, text));
    }
    report('search', middle(searches), 'ms', spread(searches));
  }
  await page.close();
}
await browser.close();
