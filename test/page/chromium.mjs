// SPDX-License-Identifier: MIT
//
// chromium.mjs: a headless Chromium that a test drives, over the pipe of its DevTools protocol. Needs no packages.
//
//   test -> {"id", "method", "params"} \0 -> fd 3 of Chromium
//        <- {"id", "result"} or {"method", "params"} \0 <- fd 4

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The texts of key events that have none of their own. */
const KEY_TEXT = { Enter: '\r' };

export class Chromium {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'page-'));
    const name = process.env.CHROMIUM || 'chromium';
    this.process = spawn(name, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
      '--remote-debugging-pipe', '--no-first-run', '--disable-extensions', '--disable-background-networking',
      '--hide-scrollbars', `--user-data-dir=${this.folder}/profile`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: this.folder } });
    this.waiting = new Map();
    this.listeners = [];
    this.next = 1;
    this.rest = '';
    this.process.stdio[4].setEncoding('utf8');
    this.process.stdio[4].on('data', (text) => this.receive(text));
    this.process.stdio[3].on('error', () => {});
    this.process.on('exit', (code, signal) => this.fail(new Error(`Chromium ended (${code ?? signal})`)));
    this.process.on('error', (error) => this.fail(error));
  }

  fail(error) {
    this.waiting.forEach(({ reject }) => reject(error));
    this.waiting.clear();
  }

  receive(text) {
    const parts = (this.rest + text).split('\0');
    this.rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      const waiter = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (waiter && message.error) {
        waiter.reject(new Error(`${waiter.method}: ${message.error.message}`));
      } else if (waiter) {
        waiter.resolve(message.result);
      } else {
        this.listeners.forEach((listener) => listener(message));
      }
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
  }

  /** Opens a page of its own. */
  async page({ width = 1280, height = 800, dark = false } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.begin(width, height, dark);
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  constructor(browser, session, target) {
    this.browser = browser;
    this.session = session;
    this.target = target;
    /** What the console and the browser complained of. */
    this.errors = [];
    browser.listeners.push((message) => {
      if (message.sessionId === session) {
        this.listen(message);
      }
    });
  }

  listen({ method, params }) {
    if (method === 'Runtime.exceptionThrown') {
      this.errors.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    } else if (method === 'Log.entryAdded' && params.entry.level === 'error') {
      this.errors.push(params.entry.text);
    }
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async begin(width, height, dark) {
    await this.send('Page.enable');
    await this.send('Runtime.enable');
    await this.send('Log.enable');
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send('Emulation.setEmulatedMedia', { features: [
      { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
      { name: 'prefers-reduced-motion', value: 'reduce' }] });
  }

  /** Loads an address and waits until the page shows its profile, or says why not. */
  async open(address) {
    await this.send('Page.navigate', { url: address });
    return this.until("document.body && document.body.dataset.ready || ''");
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate',
      { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) {
      throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
    }
    return result.value;
  }

  /** Waits until an expression is true, half a minute at most. Returns its value. */
  async until(expression) {
    for (let tries = 0; tries < 600; tries++) {
      const value = await this.value(expression).catch(() => null);
      if (value) {
        return value;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`waited half a minute for ${expression}`);
  }

  async key(key, modifiers = 0) {
    const text = key.length === 1 ? key : KEY_TEXT[key];
    const event = { key, modifiers, windowsVirtualKeyCode: key === 'Tab' ? 9 : undefined };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', text, ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    await this.settle();
  }

  async keys(...keys) {
    for (const key of keys) {
      await this.key(key);
    }
  }

  /** Goes with Tab to what a selector finds. */
  async tabTo(selector) {
    for (let tries = 0; tries < 100; tries++) {
      if (await this.value(`document.activeElement.matches(${JSON.stringify(selector)})`)) {
        return;
      }
      await this.key('Tab');
    }
    throw new Error(`Tab does not lead to ${selector}`);
  }

  async type(text) {
    await this.send('Input.insertText', { text });
    await this.settle();
  }

  async click(x, y, modifiers = 0) {
    const at = { x, y, button: 'left', clickCount: 1, modifiers };
    await this.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
    await this.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at });
    await this.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at });
    await this.settle();
  }

  async move(x, y) {
    await this.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
    await this.settle();
  }

  /** Clicks on the middle of what a selector finds. */
  async clickOn(selector, modifiers = 0) {
    const [x, y] = await this.value(`(() => {
      const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    })()`);
    await this.click(x, y, modifiers);
  }

  /** Waits until two frames were drawn: what an event changed is shown then. The page has to be the one in front. */
  settle() {
    return this.value('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }

  async screenshot(path) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  async close() {
    await this.browser.send('Target.closeTarget', { targetId: this.target });
  }
}
