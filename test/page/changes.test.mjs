// SPDX-License-Identifier: MIT
//
// changes.test.mjs: stacks without the frames that the reader hides: merge, collapse, recursion, and focus (root).

import assert from 'node:assert/strict';
import test from 'node:test';

import { lineTotals } from '../../cmd/page/totals.mjs';
import { analyse, costs, stateWith, treeText } from './analysed.mjs';
import { profileOf } from './profile_writer.mjs';

const text = (analysis, ...filters) => treeText(analysis, analysis.tree(stateWith({ filters })));
const moved = (analysis, ...filters) => Object.fromEntries(analysis.groups(stateWith({ filters }))[0].costs || []);

const example = () => analyse(profileOf([['a', 'f', 'main'], 1], [['f', 'main'], 2], [['b', 'f', 'x', 'main'], 4], [['c', 'main'], 8]));

test('merge hides a function, and its callers get what it costs', () => {
  const analysis = example();
  assert.equal(text(analysis, ['merge', '=f']), 'all:15/0(main:15/2(c:8/8 x:4/0(b:4/4) a:1/1))');
  assert.deepEqual(costs(analysis, stateWith({ filters: [['merge', '=f']] })),
    { main: [2, 15], c: [8, 8], x: [0, 4], b: [4, 4], a: [1, 1] });
  assert.deepEqual(moved(analysis, ['merge', '=f']), { 'merge =f': 7 });
  assert.equal(text(analysis, ['merge', 'a|b|c|f|main']), 'all:15/11(x:4/4)', 'what has no frame left belongs to the root');
  assert.equal(text(analysis, ['merge', '.']), 'all:15/15');
});

test('collapse hides what a function calls, from its outermost call on', () => {
  const analysis = analyse(profileOf([['a', 'f', 'b', 'f', 'main'], 1], [['f', 'main'], 2], [['c', 'main'], 8]));
  assert.equal(text(analysis, ['collapse', '=f']), 'all:11/0(main:11/0(c:8/8 f:3/3))');
  assert.deepEqual(moved(analysis, ['collapse', '=f']), { 'collapse =f': 1 });
});

test('recursion is one call, direct or not', () => {
  const analysis = analyse(profileOf([['f', 'f', 'f', 'main'], 1], [['b', 'f', 'g', 'f', 'f', 'main'], 2], [['g', 'f', 'g'], 4]));
  assert.equal(text(analysis, ['recursion', '=f']), 'all:7/0(g:4/0(f:4/0(g:4/4)) main:3/0(f:3/1(b:2/2)))');
  assert.deepEqual(moved(analysis, ['recursion', '=f'], ['recursion', '=g']), { 'recursion =f': 3, 'recursion =g': 4 });
  assert.equal(text(analysis, ['recursion', '.']), 'all:7/0(g:4/4 main:3/0(f:3/1(b:2/2)))');
});

test('focus begins at the outermost call, and leaves out what has none', () => {
  const analysis = analyse(profileOf([['a', 'f', 'b', 'f', 'main'], 1], [['f'], 2], [['c', 'main'], 8]));
  assert.equal(text(analysis, ['root', '=f']), 'all:3/0(f:3/2(b:1/0(f:1/0(a:1/1))))');
  assert.deepEqual(moved(analysis, ['root', '=f']), { 'root =f': 9 }, 'one was cut, eight are left out');
  assert.deepEqual(analysis.totals(stateWith({ filters: [['root', '=f']] })), [11], 'shares are of the whole');
  assert.equal(text(analysis, ['root', '=nobody']), 'all:0/0');
});

test('changes are made in their order, after the samples were chosen by their whole stacks', () => {
  const analysis = example();
  assert.equal(text(analysis, ['merge', '=f'], ['root', '=f']), 'all:0/0');
  assert.equal(text(analysis, ['root', '=f'], ['merge', '=f']), 'all:7/2(b:4/4 a:1/1)');
  assert.equal(text(analysis, ['merge', '=f'], ['focus', '=f'], ['ignore', '=x']), 'all:3/0(main:3/2(a:1/1))');
  assert.equal(text(analysis), text(analysis, ['merge', '('], ['merge', '=nobody']), 'nothing is meant');
});

test('a function that was inlined may go, and the one that it is in stays', () => {
  const analysis = analyse(profileOf([[['inner@a.c:1', 'middle@a.c:2', 'outer@a.c:3'], 'main@a.c:4'], 4]));
  assert.equal(text(analysis, ['merge', '=middle']), 'all:4/0(main:4/0(outer:4/0(inner:4/4)))');
  assert.equal(text(analysis, ['collapse', '=middle']), 'all:4/0(main:4/0(outer:4/0(middle:4/4)))');
  assert.equal(text(analysis, ['root', '=middle']), 'all:4/0(middle:4/0(inner:4/4))');
  const lines = lineTotals(analysis.groups(stateWith({ filters: [['collapse', '=middle']] }))[0], 'a.c');
  assert.deepEqual(Object.fromEntries(lines), { 2: { flat: 4, cum: 4 }, 3: { flat: 0, cum: 4 }, 4: { flat: 0, cum: 4 } });
});

test('both profiles of a difference are changed, and values of 64 bits stay exact', () => {
  const two = analyse(profileOf([['f', 'main'], 5]), profileOf([['f', 'main'], 3], [['g', 'f'], 1]));
  const [own, base] = two.frameTotals(stateWith({ filters: [['merge', '=f']] })), main = two.frames.find('main');
  assert.deepEqual([own.flat[main], base.flat[main], base.flat[two.frames.find('g')]], [5, 3, 1]);
  const large = (1n << 62n) + 1n, big = analyse(profileOf([['f', 'main'], large], [['f', 'main'], -large], [['f', 'main'], 3]));
  assert.equal(text(big, ['merge', '=f']), 'all:3/0(main:3/3)');
});

/** The same by lists of names, the root first. */
const NAIVE = {
  merge: (stack, name) => stack.filter((one) => one !== name),
  collapse: (stack, name) => (stack.includes(name) ? stack.slice(0, stack.indexOf(name) + 1) : stack),
  root: (stack, name) => (stack.includes(name) ? stack.slice(stack.indexOf(name)) : null),
  recursion: (stack, name) => (stack.includes(name)
    ? [...stack.slice(0, stack.indexOf(name)), ...stack.slice(stack.lastIndexOf(name))] : stack),
};

test('a thousand changes of random stacks are what lists of names say', () => {
  let state = 7;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * limit);
  };
  const names = ['a', 'b', 'c', 'd'];
  for (let round = 0; round < 100; round++) {
    const stacks = Array.from({ length: 6 }, () => Array.from({ length: below(9) }, () => names[below(4)]));
    const analysis = analyse(profileOf(...stacks.map((stack, i) => [stack, 1 << i])));
    for (let tried = 0; tried < 10; tried++) {
      const filters = Array.from({ length: 1 + below(3) }, () => [Object.keys(NAIVE)[below(4)], `=${names[below(4)]}`]);
      const flat = {};
      stacks.forEach((stack, i) => {
        const changed = filters.reduce((one, [kind, name]) => one && NAIVE[kind](one, name.slice(1)), stack.slice().reverse());
        const leaf = changed && (changed.at(-1) || 'all');
        flat[leaf] = (flat[leaf] || 0) + (1 << i);
      });
      const found = costs(analysis, stateWith({ filters })), tree = analysis.tree(stateWith({ filters }));
      for (const name of names) {
        assert.equal(found[name]?.[0] || 0, flat[name] || 0, `${name} after ${filters.join(' ')} of ${stacks.join(' | ')}`);
      }
      assert.equal(tree.total[0], 63 - (flat.null || 0));
      assert.equal(tree.self[0], flat.all || 0);
    }
  }
});
