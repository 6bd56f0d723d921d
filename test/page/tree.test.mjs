// SPDX-License-Identifier: MIT
//
// tree.test.mjs: call trees, and the sums over samples.

import assert from 'node:assert/strict';
import test from 'node:test';

import { callEdges, lineTotals } from '../../cmd/page/totals.mjs';
import { depthOf, MAX_DEPTH, nodeByFrames, nodeByRanks, pathOf, rankPath } from '../../cmd/page/tree.mjs';
import { analyse, costs, stateWith, treeText } from './analysed.mjs';
import { ProfileWriter, profileOf } from './profile_writer.mjs';

const text = (analysis, changes) => treeText(analysis, analysis.tree(stateWith(changes)));

test('a tree has the stacks, wide children first', () => {
  const analysis = analyse(profileOf([['a', 'main'], 1], [['b', 'main'], 3], [['main'], 2]));
  assert.equal(text(analysis), 'all:6/0(main:6/2(b:3/3 a:1/1))');
});

test('a tree of leaves has the callers beneath', () => {
  const analysis = analyse(profileOf([['a', 'x', 'main'], 1], [['a', 'y', 'main'], 3]));
  assert.equal(text(analysis, { order: 'up' }), 'all:4/0(a:4/0(y:3/0(main:3/3) x:1/0(main:1/1)))');
});

test('recursion counts once in cum and as often as it is in the tree', () => {
  const analysis = analyse(profileOf([['f', 'f', 'f', 'main'], 5]));
  assert.equal(text(analysis), 'all:5/0(main:5/0(f:5/0(f:5/0(f:5/5))))');
  assert.deepEqual(costs(analysis), { f: [5, 5], main: [0, 5] });
});

test('inlined functions are frames of their own', () => {
  const analysis = analyse(profileOf([[['inner', 'outer'], 'main'], 4]));
  assert.equal(text(analysis), 'all:4/0(main:4/0(outer:4/0(inner:4/4)))');
  assert.equal(text(analysis, { order: 'up' }), 'all:4/0(inner:4/0(outer:4/0(main:4/4)))');
  assert.deepEqual(costs(analysis), { inner: [4, 4], outer: [0, 4], main: [0, 4] });
});

test('a stack without frames belongs to the root', () => {
  const analysis = analyse(profileOf([[], 2], [['main'], 1]));
  assert.equal(text(analysis), 'all:3/2(main:1/1)');
});

test('addresses without a name are their program', () => {
  const analysis = analyse(profileOf([[null, 'main'], 2], [[[null], 'main'], 3]));
  assert.deepEqual(costs(analysis), { '[victim]': [5, 5], main: [0, 5] });
});

test('negative values are as wide as they are large', () => {
  const analysis = analyse(profileOf([['a', 'main'], -3], [['b', 'main'], 1]));
  const tree = analysis.tree(stateWith());
  assert.equal(treeText(analysis, tree), 'all:-2/0(main:-2/0(a:-3/-3 b:1/1))');
  assert.deepEqual([...tree.width], [4, 4, 3, 1]);
  assert.deepEqual(analysis.totals(stateWith()), [4]);
});

test('both halves of a sandwich add up to cum', () => {
  const analysis = analyse(profileOf([['a', 'f', 'x', 'main'], 1], [['b', 'f', 'c', 'f', 'y'], 2], [['z', 'main'], 9],
    [['f', 'main'], 4]));
  const frame = analysis.frames.find('f');
  assert.equal(treeText(analysis, analysis.around(stateWith(), frame, 'callees')),
    'all:7/0(f:7/4(c:2/0(f:2/0(b:2/2)) a:1/1))');
  assert.equal(treeText(analysis, analysis.around(stateWith(), frame, 'callers')),
    'all:7/0(f:7/0(main:4/4 y:2/2 x:1/0(main:1/1)))');
  assert.equal(costs(analysis).f[1], 7);
});

test('an edge counts once for each sample', () => {
  const analysis = analyse(profileOf([['g', 'f', 'g', 'f', 'main'], 3], [['f', 'main'], 1]));
  const name = (frame) => analysis.frames.labels[frame];
  const edges = callEdges(analysis.groups(stateWith())[0]).map(({ from, to, weight }) => `${name(from)}>${name(to)} ${weight}`);
  assert.deepEqual(edges.sort(), ['f>g 3', 'g>f 3', 'main>f 4']);
});

test('lines have flat and cum', () => {
  const analysis = analyse(profileOf([['leaf@a.c:7', 'root@a.c:20'], 3], [['leaf@a.c:8', 'leaf@a.c:7', 'root@b.c:1'], 1]));
  const lines = lineTotals(analysis.groups(stateWith())[0], 'a.c');
  assert.deepEqual(Object.fromEntries(lines), { 7: { flat: 3, cum: 4 }, 8: { flat: 1, cum: 1 }, 20: { flat: 0, cum: 3 } });
});

test('a very deep stack is cut, and its sums are whole', () => {
  const stack = ['leaf', ...Array(50000).fill('f'), 'main'];
  const analysis = analyse(profileOf([stack, 2], [['other', 'main'], 1]));
  const tree = analysis.tree(stateWith());
  assert.equal(tree.rowBegin.length - 1, MAX_DEPTH + 2);
  assert.equal(analysis.frames.labels[tree.frame[tree.count - 1]], '[deeper frames]');
  assert.equal(tree.total[0], 3);
  assert.deepEqual(costs(analysis), { main: [0, 3], f: [0, 2], leaf: [2, 2], other: [1, 1] });
});

test('a tree leaves out what is beneath narrow nodes, until the reader zooms', () => {
  const writer = new ProfileWriter();
  for (let i = 0; i < 30000; i++) {
    writer.add({ stack: [`leaf${i}`, `narrow${i}`, `middle${i % 3}`, 'main'], value: 1 });
  }
  const analysis = analyse(writer.finish()), coarse = analysis.tree(stateWith());
  assert.equal(coarse.partial, true);
  assert.equal(coarse.total[0], 30000);
  assert.equal(coarse.rowBegin.length - 1, 4, 'all, main, middle and narrow');
  const middle = nodeByRanks(coarse, '0.1');
  const zoomed = stateWith({ zoom: rankPath(coarse, middle) });
  let asked = 0;
  analysis.later = () => asked++;
  assert.equal(analysis.tree(zoomed), coarse, 'the picture does not wait');
  analysis.later = null;
  const fine = analysis.tree(zoomed);
  analysis.later = () => asked++;
  assert.equal(analysis.tree(zoomed), fine, 'it is there now');
  assert.equal(asked, 1);
  assert.equal(fine.count, coarse.count + 10000, 'with the leaves of one of the three');
  assert.equal(fine.rowBegin.length - 1, 5);
  assert.equal(fine.width[middle], coarse.width[middle]);
  assert.equal(fine.x[middle], coarse.x[middle]);
  assert.deepEqual(costs(analysis).leaf7, [1, 1], 'the table has all of them');
  assert.equal(analyse(profileOf([['a', 'b'], 1])).tree(stateWith()).partial, false);
});

test('the place of a node is the same in the URL', () => {
  const analysis = analyse(profileOf([['d', 'c', 'b', 'a'], 2], [['e', 'b', 'a'], 1], [['x'], 9]));
  const tree = analysis.tree(stateWith());
  for (let node = 0; node < tree.count; node++) {
    assert.equal(nodeByRanks(tree, rankPath(tree, node)), node);
    assert.equal(pathOf(tree, node).length, depthOf(tree, node));
  }
  assert.equal(nodeByRanks(tree, '7.7'), 0);
  const d = [...tree.frame].indexOf(analysis.frames.find('d')), path = pathOf(tree, d);
  assert.equal(nodeByFrames(tree, path), d);
  assert.equal(nodeByFrames(tree, [analysis.deeper, path[0], analysis.deeper, ...path.slice(1)]), d, 'what is not there is passed over');
  assert.equal(nodeByFrames(tree, path.slice(1)), 0);
  assert.equal(nodeByRanks(tree, 'nonsense'), 0);
});

test('two profiles are one tree', () => {
  const analysis = analyse(profileOf([['a', 'main'], 5], [['new', 'main'], 1]),
    profileOf([['gone', 'main'], 2], [['a', 'main'], 3]));
  const tree = analysis.tree(stateWith());
  const rows = [...tree.frame].map((frame, node) =>
    `${node ? analysis.frames.labels[frame] : 'all'} ${tree.baseTotal[node]} ${tree.total[node]} ${tree.width[node]}`);
  assert.deepEqual(rows, ['all 5 6 11', 'main 5 6 11', 'a 3 5 8', 'gone 2 0 2', 'new 0 1 1']);
  const [own, base] = analysis.frameTotals(stateWith({ normalize: '1' }));
  assert.equal(base.cum[analysis.frames.find('main')], own.cum[analysis.frames.find('main')]);
});

test('two profiles of different kinds are refused', () => {
  assert.throws(() => analyse(profileOf([['a'], 1]), new ProfileWriter([['cpu', 'ns']]).finish()), /same sample types/);
});
