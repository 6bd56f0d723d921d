// SPDX-License-Identifier: MIT
//
// chosen.test.mjs: filters, labels, search, colours, the form of values, and the state in the URL.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { changeFill, groupFill, packageOf, stateFill, themeColours } from '../../cmd/page/colours.mjs';
import { commonUnit, label, percent } from '../../cmd/page/format.mjs';
import { layoutGraph } from '../../cmd/page/graph_layout.mjs';
import { dominantValues, labelCosts } from '../../cmd/page/labels.mjs';
import { makePalette, usualColour } from '../../cmd/page/palette.mjs';
import { compileSearch, matchedWidth, matchFrames } from '../../cmd/page/search.mjs';
import { formatState, parseState } from '../../cmd/page/state.mjs';
import { flameSvg } from '../../cmd/page/svg_export.mjs';
import { shorten } from '../../cmd/page/text.mjs';
import { analyse, costs, stateWith } from './analysed.mjs';
import { bytes, number, ProfileWriter, profileOf } from './profile_writer.mjs';

const stacks = () => analyse(profileOf(
  [['a', 'main'], 1, { tenant: 'acme', phase: 'x' }], [['b', 'main'], 2, { tenant: 'bolt' }],
  [['c', 'other'], 4, { tenant: 'acme', size: 2048 }], [['d'], 8]));

test('values have units as cpprof prints them', () => {
  assert.equal(label(1536, 'bytes'), '1.50kB');
  assert.equal(label(2560, 'bytes', 'kb'), '2.50kB');
  assert.equal(label(128, 'bytes', 'kB'), '0.12kB', 'a tie goes to the even digit, as in C');
  assert.equal(label(12340000, 'nanoseconds'), '12.34ms');
  assert.equal(label(-1.5e9, 'ns'), '-1.50s');
  assert.equal(label(7200, 'seconds'), '2hrs');
  assert.equal(label(7, 'count'), '7');
  assert.equal(label(0, 'nanoseconds'), '0');
  assert.equal(label(5, 'widgets', 'widgets'), '5widgets');
  assert.equal(percent(1, 3), '33.33%');
  assert.equal(percent(1, 300), '0.33%');
  assert.equal(percent(1, 3e7), '3.3e-06%');
  assert.equal(percent(9999, 10000), '100%');
  assert.equal(percent(1, 0), '0%');
  assert.equal(commonUnit([1e7, 3e9], 3.01e9, 'nanoseconds'), 's');
});

test('focus and ignore match functions, files and programs', () => {
  const analysis = stacks();
  assert.deepEqual(costs(analysis, stateWith({ filters: [['focus', '^main$']] })), { main: [0, 3], b: [2, 2], a: [1, 1] });
  assert.deepEqual(costs(analysis, stateWith({ filters: [['ignore', 'main'], ['ignore', '^d$']] })), { c: [4, 4], other: [0, 4] });
  assert.equal(Object.keys(costs(analysis, stateWith({ filters: [['focus', 'victim']] }))).length, 6);
  assert.equal(analysis.tree(stateWith({ filters: [['focus', '^main$']] })).total[0], 3);
  assert.deepEqual(analysis.totals(stateWith({ filters: [['focus', '^main$']] })), [15], 'shares are of the whole');
});

test('a name is one function, with or without a symbol, whatever its case', () => {
  const analysis = analyse(profileOf([['a', 'main'], 1], [['A', 'main'], 2], [[null, 'a.b', 'main'], 4], [['a|b'], 8]));
  const total = (...filters) => analysis.tree(stateWith({ filters })).total[0];
  assert.deepEqual(['=a', '=A', '=a.b', '=a|b', '=[victim]', '=b', '='].map((text) => total(['focus', text])), [1, 2, 4, 8, 4, 0, 0]);
  assert.deepEqual(['=a', '=[victim]', '=b'].map((text) => total(['ignore', text])), [14, 11, 15]);
  assert.equal(total(['focus', '=main'], ['ignore', '=a'], ['focus', '(']), 6, 'an invalid expression is none');
});

test('labels filter: any value of a key, and all keys', () => {
  const cum = (...labels) => analyse2.tree(stateWith({ filters: labels.map((one) => ['labels', one]) })).total[0];
  const analyse2 = stacks();
  assert.equal(cum('tenant=acme'), 5);
  assert.equal(cum('tenant=acme', 'tenant=bolt'), 7);
  assert.equal(cum('tenant=acme', 'phase=x'), 1);
  assert.equal(cum('!tenant=acme'), 10);
  assert.equal(cum('size=2kB'), 0, 'a number without a unit is a plain one');
  assert.equal(cum('size=2048'), 4);
});

test('labels cost what their samples cost', () => {
  const analysis = stacks(), [group] = analysis.groups(stateWith());
  assert.deepEqual(labelCosts(group).map(({ key, values, total }) => [key, total, values.map((one) => one.value)]),
    [['phase', 1, ['x']], ['size', 4, ['2048']], ['tenant', 7, ['acme', 'bolt']]]);
  const tree = analysis.tree(stateWith());
  const winner = dominantValues(tree, group, 'tenant', ['acme', 'bolt']);
  const of = (name) => winner[tree.frame.indexOf(analysis.frames.find(name))];
  assert.deepEqual(['a', 'b', 'main', 'c', 'd'].map(of), [0, 1, 1, 0, 2]);
});

test('a search has its share of the whole', () => {
  const analysis = stacks(), state = stateWith(), tree = analysis.tree(state);
  const share = (pattern) => {
    const matched = matchFrames(analysis.frames, compileSearch(pattern).regex);
    const whole = matchedWidth(analysis.groups(state), tree, matched);
    assert.equal(matchedWidth(analysis.groups(state), { ...tree, partial: true }, matched), whole);
    return whole;
  };
  assert.equal(share('main|^a$'), 3, 'nothing counts twice');
  assert.equal(share('MAIN'), 0, 'capital letters mean themselves');
  assert.equal(share('(?i)MAIN'), 3);
  assert.notEqual(compileSearch('(').error, '');
  assert.equal(compileSearch('').regex, null);
});

test('the URL has what was chosen, and only that', () => {
  assert.equal(formatState(stateWith()), '');
  const state = stateWith({ view: 'table', search: 'a&b=c#', filters: [['focus', 'x y'], ['merge', '=a=b'], ['labels', 'k=v=w'],
    ['focus', '^z$']] });
  assert.deepEqual(parseState(`#${formatState(state)}`), state, 'in the order in which they were chosen');
  assert.deepEqual(parseState('#unknown=1&view=graph&filters=a&constructor=b'), stateWith({ view: 'graph' }));
});

test('drop_frames are cut off as cpprof does', () => {
  const writer = new ProfileWriter();
  writer.add({ stack: ['x', 'malloc', 'user', 'main'], value: 3 }).add({ stack: ['malloc'], value: 2 });
  writer.add({ stack: ['keep', 'malloc_keep', 'main'], value: 4 });
  writer.put(number(7, writer.string('malloc.*')), number(8, writer.string('malloc_keep')));
  assert.deepEqual(costs(analyse(writer.finish())),
    { main: [0, 7], keep: [4, 4], malloc_keep: [0, 4], user: [3, 3], malloc: [2, 2] });
});

test('packages are what comes before the last part of a name', () => {
  assert.deepEqual(['net/http.(*Server).Serve', 'std::vector<int>::push', 'main.main', 'memcpy', 'a::b::c'].map(packageOf),
    ['net/http', 'std', 'main', '', 'a']);
});

/** The contrast of two colours, after WCAG. */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = rgb(colour).map(linear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function rgb(colour) {
  if (colour.startsWith('#')) {
    return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  }
  const [hue, saturation, lightness] = colour.match(/[\d.]+/g).map(Number);
  const reach = (saturation / 100) * Math.min(lightness / 100, 1 - lightness / 100);
  return [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    return lightness / 100 - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

const STATES = ['running', 'preempted', 'lock', 'io', 'net', 'sleep', 'poll', 'child', 'page', 'other'];

/** How colours are seen: by most, without red, without green, without blue (Machado, Oliveira, Fernandes 2009). */
const VISIONS = [
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
];

/** The place of a colour in CIELAB, as that vision sees it. */
function lab(colour, vision) {
  const linear = rgb(colour).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const [red, green, blue] = vision.map((row) =>
    Math.min(1, Math.max(0, row.reduce((sum, factor, i) => sum + factor * linear[i], 0))));
  const [x, y, z] = [(0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
    0.2126 * red + 0.7152 * green + 0.0722 * blue, (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883]
    .map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test('any two states have colours that everybody can tell apart', () => {
  for (const dark of [false, true]) {
    for (const vision of VISIONS) {
      const places = STATES.map((state) => lab(stateFill(state, dark), vision));
      places.forEach((one, i) => places.slice(0, i).forEach((other, j) => {
        const distance = Math.hypot(...one.map((value, k) => value - other[k]));
        assert.ok(distance >= 12, `${STATES[i]} and ${STATES[j]}, dark ${dark}: ${distance}`);
      }));
    }
  }
  assert.equal(stateFill('acme', false), undefined);
});

test('a wall-clock profile is coloured by state, a frame that has several in proportion', () => {
  const wall = (type) => {
    const analysis = analyse(profileOf([['a', 'main'], 3, { state: 'lock' }], [['b', 'main'], 1, { state: 'running' }]));
    analysis.profile.sampleTypes.forEach((one) => { one.type = type; });
    return analysis;
  };
  const analysis = wall('wall'), state = stateWith();
  assert.equal(usualColour(analysis), 'label:state');
  assert.notEqual(usualColour(wall('cpu')), 'label:state');
  const tree = analysis.tree(state), { fill, parts, key } = makePalette(analysis, state, tree, false);
  const node = (name) => tree.frame.indexOf(analysis.frames.find(name));
  assert.equal(fill(node('main')), stateFill('lock', false));
  assert.equal(fill(node('b')), stateFill('running', false));
  assert.deepEqual(parts(node('main')), [[stateFill('lock', false), 0.75], [stateFill('running', false), 0.25]]);
  assert.deepEqual(parts(node('a')), []);
  assert.deepEqual(key.map(({ text, colour }) => [text, colour]),
    [['lock', stateFill('lock', false)], ['running', stateFill('running', false)]]);
});

test('text on every colour has a contrast of 4.5 to 1', () => {
  for (const dark of [false, true]) {
    const theme = themeColours(dark);
    const fills = [theme.paper];
    for (let group = -1; group < 14; group++) {
      for (const shade of [0, 0.5, 1]) {
        fills.push(groupFill(group, dark, shade), groupFill(group, dark, shade, false));
      }
    }
    for (let change = -1; change <= 1; change += 0.05) {
      fills.push(changeFill(change, dark));
    }
    fills.push(...STATES.map((state) => stateFill(state, dark)));
    fills.forEach((fill) => assert.ok(contrast(fill, theme.text) >= 4.5, `${fill}: ${contrast(fill, theme.text)}`));
    assert.ok(contrast(theme.faded, theme.fadedText) >= 4.5);
    assert.ok(contrast(theme.match, theme.matchText) >= 4.5);
  }
});

test('the text of the page has a contrast of 4.5 to 1', () => {
  const css = readFileSync(new URL('../../cmd/page/page.css', import.meta.url), 'utf8');
  const pairs = Object.fromEntries([...css.matchAll(/--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, ...two]) =>
    [name, two]));
  for (const theme of [0, 1]) {
    for (const text of ['text', 'soft', 'accent', 'grew', 'shrank']) {
      for (const paper of ['paper', 'panel', 'accent-fill']) {
        const found = contrast(pairs[text][theme], pairs[paper][theme]);
        assert.ok(found >= 4.5, `${text} on ${paper}, theme ${theme}: ${found}`);
      }
    }
    assert.ok(contrast(pairs.text[theme], pairs.match[theme]) >= 4.5);
    assert.ok(contrast(pairs.text[theme], pairs.bar[theme]) >= 4.5);
  }
});

test('the graph has callers on one side and callees on the other', () => {
  const edges = [[0, 1, 5], [1, 2, 4], [1, 3, 1], [2, 1, 1], [4, 0, 5]].map(([from, to, weight]) => ({ from, to, weight }));
  const { nodes, hidden } = layoutGraph(edges, 1, 2, 1);
  assert.deepEqual(nodes.map(({ frame, level }) => [frame, level]), [[1, 0], [0, -1], [4, -2], [2, 1]]);
  assert.deepEqual([hidden.get(-1), hidden.get(1)], [1, 1]);
});

test('an SVG escapes names', () => {
  const analysis = analyse(profileOf([['</text><script>"&\u0001'], 3]));
  const text = flameSvg({ tree: analysis.tree(stateWith()), root: 0, fill: () => 'red', label: (node) =>
    (node ? analysis.frames.labels[1] : 'all'), cost: () => '3', title: '<t>', upwards: false, dark: false });
  assert.ok(!/<script|<t>|\u0001/.test(text));
  assert.match(text, /&#60;\/text&#62;&#60;script&#62;&#34;&#38;\ufffd/);
});

test('long labels end in an ellipsis', () => {
  assert.equal(shorten('abcdef', 6), 'abcdef');
  assert.equal(shorten('abcdefg', 6), 'abcde…');
  assert.equal(shorten('abc', 0), '…');
});
