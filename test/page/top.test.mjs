// SPDX-License-Identifier: MIT
//
// top.test.mjs: the page shows what `cpprof top` prints, to the digit: on all profiles in test/golden and on made-up ones
// with everything in them; and on those that $PROFILES names, with blanks between. $BUILD and $SRC are set.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { Analysis } from '../../cmd/page/analysis.mjs';
import { decodeProfile } from '../../cmd/page/decode.mjs';
import { commonUnit, label, percent } from '../../cmd/page/format.mjs';
import { decodeBase64, gunzip } from '../../cmd/page/gunzip.mjs';
import { costs, stateWith } from './analysed.mjs';

const { BUILD, SRC } = process.env;
const cpprof = join(BUILD, 'bin/cpprof');
const work = mkdtempSync(join(tmpdir(), 'page-'));
after(() => rmSync(work, { recursive: true }));

const SEEDS = 25;

function run(program, ...args) {
  return execFileSync(program, args, { encoding: 'buffer', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** What the page of a file has in its element. */
async function readPage(file, ...options) {
  const out = join(work, 'page.html');
  run(cpprof, 'flame', '-o', out, ...options, file);
  const [, base64] = readFileSync(out, 'latin1').match(/id="profile"[^>]*>([^<]*)<\/script>/);
  return new Analysis(decodeProfile(await gunzip(decodeBase64(base64))), null);
}

/** The rows of `cpprof top`: [flat, flat%, cum, cum%, name], and the total. */
function readTop(text) {
  const lines = text.split('\n');
  const head = lines.findIndex((line) => /^ +flat +flat%/.test(line));
  const total = text.match(/ of (\S+) total/)[1];
  const rows = lines.slice(head + 1).filter((line) => line !== '').map((line) => {
    const [, flat, flatShare, , cum, cumShare, name] =
      line.match(/^ *(\S+) +(\S+%) +(\S+%) +(\S+) +(\S+%) {2}(.*?)( \(inline\)| \(partial-inline\))?$/s);
    return [flat, flatShare, cum, cumShare, name];
  });
  return { rows, total };
}

/** Compares the rows that `top` prints; it leaves small ones out. */
function compare(analysis, type, text, what) {
  const state = stateWith({ type: type.type }), top = readTop(text);
  const [own] = analysis.frameTotals(state), [total] = analysis.totals(state), { labels } = analysis.frames;
  const frames = new Map();
  analysis.ranked(state, 'cum').forEach((frame) => frames.set(labels[frame], [...(frames.get(labels[frame]) || []), frame]));
  const found = top.rows.map(([, , , , name]) => frames.get(name) || []);
  const unit = commonUnit(found.flat().map((frame) => own.flat[frame] || own.cum[frame]), total, type.unit);
  assert.equal(label(total, type.unit, unit), top.total, `${what}: total`);
  top.rows.forEach((row, i) => {
    const candidates = found[i].map((frame) => [label(own.flat[frame], type.unit, unit), percent(own.flat[frame], total),
      label(own.cum[frame], type.unit, unit), percent(own.cum[frame], total), row[4]]);
    // Several frames have one label where programs have one base name.
    assert.ok(candidates.some((one) => one.every((cell, j) => cell === row[j])),
      `${what}: expected ${row.join(' | ')}, found ${candidates.map((one) => one.join(' | ')).join('; ') || 'none'}`);
  });
  return top.rows.length;
}

async function compareFile(file) {
  const analysis = await readPage(file);
  let rows = 0;
  for (const [index, type] of analysis.profile.sampleTypes.entries()) {
    const same = analysis.profile.sampleTypes.findIndex((one) => one.type === type.type);
    if (same === index) {
      rows += compare(analysis, type, run(cpprof, 'top', '--sample', String(index), file).toString(), `${file} ${type.type}`);
    }
  }
  return rows;
}

for (const folder of ['go', 'gperftools']) {
  const files = readdirSync(join(SRC, 'test/golden', folder)).filter((name) => /\.(pb\.gz|prof)$/.test(name));
  for (const name of files) {
    test(`${folder}/${name} has the totals of cpprof top`, async () => {
      const rows = await compareFile(join(SRC, 'test/golden', folder, name));
      assert.ok(rows > 0 || name === 'threadcreate.pb.gz', 'top prints rows');
    });
  }
}

for (const file of (process.env.PROFILES || '').split(' ').filter((name) => name)) {
  test(`${file} has the totals of cpprof top`, async () => {
    assert.ok(await compareFile(file) > 0, 'top prints rows');
  });
}

test(`${SEEDS} made-up profiles have the totals of cpprof top`, async () => {
  let rows = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const file = join(work, `${seed}.pb`);
    writeFileSync(file, run(join(BUILD, 'test/cpprof/generate'), String(seed)));
    rows += await compareFile(file);
  }
  assert.ok(rows > SEEDS);
});

test('merge and focus of the page are --hide and --show-from of cpprof', async () => {
  const file = join(SRC, 'test/golden/go/cpu.pb.gz'), whole = await readPage(file);
  const rows = (analysis, filters = []) => Object.entries(costs(analysis, stateWith({ filters }))).sort();
  for (const frame of whole.ranked(stateWith(), 'cum').slice(0, 6)) {
    const name = whole.frames.labels[frame], exact = `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
    assert.deepEqual(rows(whole, [['merge', `=${name}`]]), rows(await readPage(file, '--hide', exact)), `merge ${name}`);
    assert.deepEqual(rows(whole, [['root', `=${name}`]]), rows(await readPage(file, '--show-from', exact)), `focus ${name}`);
  }
});

const corpus = join(SRC, 'test/fuzz/corpus/profile');

test('the page reads what cpprof reads, and refuses what cpprof refuses', async () => {
  let read = 0;
  const names = readdirSync(corpus);
  for (const name of names) {
    const bytes = readFileSync(join(corpus, name));
    const reads = spawnSync(cpprof, ['merge', '-o', join(work, 'merged.pb.gz'), join(corpus, name)]);
    if (reads.status === 0 && isProto(bytes)) {
      decodeProfile(await gunzip(new Uint8Array(bytes)));
      read++;
    } else if (reads.status !== 0) {
      await assert.rejects(async () => decodeProfile(await gunzip(new Uint8Array(bytes))), /byte \d+: expected /, name);
    }
  }
  assert.ok(read > 0 && read < names.length, `${read} of ${names.length}`);
});

/** gperftools' form begins with a word of 0; cpprof converts it. */
function isProto(bytes) {
  return bytes[0] !== 0;
}
