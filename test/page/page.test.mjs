// SPDX-License-Identifier: MIT
//
// page.test.mjs: the page as the build assembled it, and what `cpprof flame` puts into it. $BUILD and $SRC are set.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { ProfileWriter, profileOf } from './profile_writer.mjs';

const { BUILD, SRC } = process.env;
const work = mkdtempSync(join(tmpdir(), 'page-'));
after(() => rmSync(work, { recursive: true }));

const page = readFileSync(join(BUILD, 'cmd/page/page.html'), 'utf8');
const part = (tag) => page.match(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`))[1];
const script = part('script');

test('the policy permits this script and this style, and nothing from elsewhere', () => {
  const policy = page.match(/Content-Security-Policy" content="([^"]*)"/)[1];
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const rules = Object.fromEntries(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]));
  assert.deepEqual(rules, { 'default-src': "'none'", 'script-src': hash(script), 'style-src': hash(part('style')),
    'connect-src': "'self'", 'img-src': 'data: blob:', 'base-uri': "'none'", 'form-action': "'none'" });
  assert.equal(/(src|href)=/.test(page.replace(script, '').replace(/default-src.*?"/, '')), false);
});

test('the script is one that parses, of at most 120 KB', () => {
  const file = join(work, 'script.mjs');
  writeFileSync(file, script);
  execFileSync('node', ['--check', file]);
  assert.ok(Buffer.byteLength(script) <= 120 * 1024, `${Buffer.byteLength(script)} bytes`);
});

test('no module reads a text as HTML or as a program', () => {
  for (const name of readdirSync(join(SRC, 'cmd/page')).filter((one) => one.endsWith('.mjs'))) {
    const text = readFileSync(join(SRC, 'cmd/page', name), 'utf8');
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, name);
    assert.match(text, new RegExp(`^// SPDX-License-Identifier: MIT\n//\n// ${name}: `), name);
  }
});

/** The element of a page with a profile: its name and bytes. */
function embedded(html, id) {
  const [, name, base64] = html.match(new RegExp(`id="${id}" data-name="([^"]*)">([^<]*)</script>`));
  return { name, bytes: gunzipSync(Buffer.from(base64, 'base64')) };
}

const cpprof = (...args) => spawnSync(join(BUILD, 'bin/cpprof'), args, { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: {
  ...process.env, BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '', TMPDIR: work } });

test('cpprof flame writes a page with the profile', () => {
  writeFileSync(join(work, 'a"<&.pb'), profileOf([['leaf', 'main'], 3]));
  assert.deepEqual([cpprof('flame', 'a"<&.pb').status, readdirSync(work).includes('a"<&.html')], [0, true]);
  const { name, bytes } = embedded(readFileSync(join(work, 'a"<&.html'), 'utf8'), 'profile');
  assert.equal(name, 'a&quot;&lt;&amp;.pb');
  assert.ok(bytes.includes('leaf'));
});

test('cpprof flame names the page after the profile, and puts it where -o says', () => {
  writeFileSync(join(work, 'prog.cpu.pb'), profileOf([['leaf', 'main'], 3]));
  assert.equal(cpprof('flame', 'prog.cpu.pb').stdout, 'prog.cpu.html\n');
  assert.equal(cpprof('flame', '-o', 'here.html', 'prog.cpu.pb').stdout, '');
  assert.ok(readFileSync(join(work, 'here.html')).length > page.length);
  assert.deepEqual(readdirSync(work).filter((name) => /html\../.test(name)), [], 'nothing temporary is left');
});

test('cpprof flame demangles, and keeps the symbols', () => {
  writeFileSync(join(work, 'cxx.pb'), profileOf([['_ZN3foo3barIiEEvv'], 1]));
  const names = (...mode) => {
    assert.equal(cpprof('flame', '-o', 'cxx.html', ...mode, 'cxx.pb').status, 0);
    return embedded(readFileSync(join(work, 'cxx.html'), 'utf8'), 'profile').bytes.toString('latin1');
  };
  assert.match(names(), /foo::bar(?!<)/);
  assert.match(names(), /_ZN3foo3barIiEEvv/);
  assert.match(names('--demangle=full'), /foo::bar<int>/);
});

test('cpprof flame and web have the samples and frames that the user chooses, in both profiles', () => {
  writeFileSync(join(work, 'some.pb'), profileOf([['leaf', 'kept', 'main'], 3], [['leaf', 'other', 'main'], 4]));
  writeFileSync(join(work, 'before.pb'), profileOf([['old', 'kept', 'main'], 3], [['gone', 'other', 'main'], 4]));
  const written = (id, ...options) => {
    for (const verb of ['flame', 'web']) {
      const { status, stderr } = cpprof(verb, '-o', 'some.html', ...options, 'some.pb');
      assert.deepEqual([status, stderr], [0, ''], `${verb} ${options}`);
    }
    return embedded(readFileSync(join(work, 'some.html'), 'utf8'), id).bytes.toString('latin1');
  };
  assert.match(written('profile', '--focus', 'kept'), /kept/);
  assert.doesNotMatch(written('profile', '--focus', 'kept'), /other/);
  assert.doesNotMatch(written('profile', '--ignore=other'), /other/);
  assert.doesNotMatch(written('profile', '--hide', 'leaf'), /leaf/);
  assert.doesNotMatch(written('profile', '--show-from', 'kept|other'), /main/);
  assert.match(written('base', '--base', 'before.pb', '--focus', 'kept'), /old/);
  assert.doesNotMatch(written('base', '--base', 'before.pb', '--focus', 'kept'), /gone/);
  assert.match(cpprof('flame', '--focus', 'nobody', 'some.pb').stderr, /--focus nobody matches no function/);
  assert.match(cpprof('flame', '--sample', 'nothing', 'some.pb').stderr, /some\.pb: expected a sample type of this profile/);
  assert.equal(cpprof('flame', '--focus', '(', 'some.pb').status, 2);
});

test('cpprof flame --base has both profiles', () => {
  writeFileSync(join(work, 'new.pb'), profileOf([['leaf', 'main'], 3]));
  writeFileSync(join(work, 'old.pb'), profileOf([['gone', 'main'], 3]));
  assert.equal(cpprof('flame', '-o', 'both.html', '--base', 'old.pb', 'new.pb').status, 0);
  const html = readFileSync(join(work, 'both.html'), 'utf8');
  assert.ok(embedded(html, 'profile').bytes.includes('leaf'));
  assert.ok(embedded(html, 'base').bytes.includes('gone'));
});

test('cpprof flame --sources has the texts of files that are there', () => {
  const text = 'int f(void)\n{\n\treturn "</script>\\" == 0; /* é */\n}\n';
  writeFileSync(join(work, 'here.c'), text);
  writeFileSync(join(work, 'binary.c'), 'a\0b');
  const writer = new ProfileWriter();
  writer.add({ stack: [`f@${work}/here.c:3`, `g@${work}/gone.c:3`, `h@${work}/binary.c:1`, 'i@/dev/zero:1'], value: 1 });
  writeFileSync(join(work, 'lines.pb'), writer.finish());
  const sources = (...options) => {
    assert.equal(cpprof('flame', '-o', 'lines.html', ...options, 'lines.pb').status, 0);
    return readFileSync(join(work, 'lines.html'), 'utf8').match(/id="sources">([^]*?)<\/script>/);
  };
  assert.deepEqual(JSON.parse(sources('--sources')[1]), { [`${work}/here.c`]: text });
  assert.equal(sources(), null, 'nobody passes sources on without meaning to');
});

test('cpprof flame --sources says which files are newer than the program', () => {
  for (const name of ['early.c', 'late.c', 'program']) writeFileSync(join(work, name), 'text\n');
  utimesSync(join(work, 'early.c'), 1000, 1000);
  utimesSync(join(work, 'program'), 2000, 2000);
  utimesSync(join(work, 'late.c'), 3000, 3000);
  const writer = new ProfileWriter();
  writer.mapping = join(work, 'program');
  writer.add({ stack: [`f@${work}/early.c:1`, `g@${work}/late.c:1`, `h@${work}/late.c:2`], value: 1 });
  writeFileSync(join(work, 'ages.pb'), writer.finish());
  const warnings = (...options) => cpprof('flame', ...options, 'ages.pb').stderr.match(/.*newer.*/g);
  assert.deepEqual(warnings('--sources'),
    [`cpprof: ${work}/late.c is newer than the program that was built from it: lines may have moved; build and record again`]);
  assert.equal(warnings(), null);
});

test('cpprof flame refuses what it cannot read, and leaves no page', () => {
  writeFileSync(join(work, 'bad.pb'), 'hello');
  const { status, stderr } = cpprof('flame', 'bad.pb');
  assert.deepEqual([status, readdirSync(work).includes('bad.html')], [1, false]);
  assert.match(stderr, /^cpprof: bad\.pb: byte 0: expected a profile/);
  assert.equal(cpprof('flame').status, 2);
  assert.equal(cpprof('flame', '--demangle=much', 'new.pb').status, 2);
  assert.equal(cpprof('flame', '-o', 'x.svg', 'new.pb').status, 0);
  assert.match(readFileSync(join(work, 'x.svg'), 'utf8'), /^<svg /, 'the name says what is written');
});

test('cpprof web prints the path of the page where there is no browser', () => {
  const { status, stdout } = cpprof('web', 'new.pb');
  assert.equal(status, 0);
  assert.match(stdout, /\/cpprof-\w{6}\.html\n$/);
  assert.ok(readFileSync(stdout.trim()).length > page.length);
});

test('cpprof web starts the browser with the page', () => {
  const browser = join(work, 'browser');
  writeFileSync(browser, '#!/bin/sh\nprintf "%s" "$1" >"$0.opened"\n', { mode: 0o755 });
  const { status } = spawnSync(join(BUILD, 'bin/cpprof'), ['web', '-o', join(work, 'w.html'), join(work, 'new.pb')],
    { env: { ...process.env, BROWSER: browser } });
  assert.equal(status, 0);
  assert.equal(readFileSync(`${browser}.opened`, 'utf8'), join(work, 'w.html'));
});
