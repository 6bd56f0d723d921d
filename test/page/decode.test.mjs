// SPDX-License-Identifier: MIT
//
// decode.test.mjs: profiles as they should be, and as they should not.

import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';

import { decodeProfile } from '../../cmd/page/decode.mjs';
import { decodeBase64, gunzip } from '../../cmd/page/gunzip.mjs';
import { costs, analyse, stateWith } from './analysed.mjs';
import { bytes, message, number, ProfileWriter, profileOf, varint } from './profile_writer.mjs';

const decode = (data) => decodeProfile(new Uint8Array(data));

/** The error of a broken profile begins with the byte and says what was expected. */
function refuses(data, text) {
  assert.throws(() => decode(data), (error) => {
    assert.match(error.message, /^byte \d+: expected /);
    assert.match(error.message, text);
    return true;
  });
}

test('a profile has the parts that were written', () => {
  const profile = decode(new ProfileWriter([['samples', 'count'], ['cpu', 'nanoseconds']])
    .add({ stack: ['leaf@a.c:7', 'root'], values: [3, 30], labels: { tenant: 'acme', bytes: 512 } }).finish());
  assert.deepEqual(profile.sampleTypes, [{ type: 'samples', unit: 'count' }, { type: 'cpu', unit: 'nanoseconds' }]);
  assert.deepEqual([...profile.values[1]], [30]);
  assert.deepEqual([...profile.stack], [0, 1]);
  assert.equal(profile.strings[profile.functionName[0]], 'leaf');
  assert.equal(profile.lineNumber[0], 7);
  assert.equal(profile.strings[profile.labelText[0]], 'acme');
  assert.equal(profile.labelNumber[1], 512);
});

test('values and locations may be packed or not', () => {
  const writer = new ProfileWriter();
  const leaf = writer.locationId('leaf'), root = writer.locationId('root');
  writer.samples.push(message(2, number(1, leaf), number(1, root), number(2, 5)));
  assert.deepEqual(costs(analyse(writer.finish())), { leaf: [5, 5], root: [0, 5] });
});

test('ids may be any 64-bit numbers', () => {
  const large = (1n << 63n) + 5n;
  const data = Buffer.concat([message(1), message(2, bytes(1, varint(large)), bytes(2, [1])),
    message(4, number(1, large), message(4, number(1, 1n << 40n))), message(5, number(1, 1n << 40n), number(2, 1)),
    bytes(6, ''), bytes(6, 'far')].map((part) => Buffer.from(part)));
  assert.deepEqual(costs(analyse(data)), { far: [1, 1] });
});

test('a string index out of range is refused', () => {
  refuses(Buffer.concat([bytes(6, ''), message(5, number(1, 1), number(2, 99))]), /string index below 1 .* found 99$/);
  refuses(Buffer.concat([bytes(6, ''), Buffer.from(number(14, -1n))]), /string index below 1 .* found -1$/);
});

test('references to nothing are refused', () => {
  const writer = new ProfileWriter();
  writer.samples.push(message(2, bytes(1, varint(77)), bytes(2, [1])));
  refuses(writer.finish(), /the id of a location, found 77, which none has/);
  refuses(new ProfileWriter().put(message(4, number(1, 1), message(4, number(1, 9)))).finish(), /a function, found 9/);
  refuses(new ProfileWriter().put(message(4, number(1, 1), number(2, 9))).finish(), /a mapping, found 9/);
});

test('ids of 0 and ids that come twice are refused', () => {
  refuses(new ProfileWriter().put(message(5, number(1, 0))).finish(), /a function with an id, found id 0/);
  refuses(new ProfileWriter().put(message(5, number(1, 3)), message(5, number(1, 3))).finish(), /found 3 for the second/);
});

test('a sample without a value for each type is refused', () => {
  refuses(new ProfileWriter().add({ stack: ['f'], values: [1, 2] }).finish(), /a sample with 1 values .* found 2/);
  refuses(new ProfileWriter().add({ stack: ['f'], values: [] }).finish(), /a sample with 1 values .* found 0/);
});

test('bytes that are no profile are refused', () => {
  refuses(Buffer.from([]), /a string_table/);
  refuses(Buffer.from('hello, world'), /expected/);
  refuses(Buffer.from([0x32]), /a length, found the end/);
  refuses(Buffer.from([0x32, 5, 1]), /a length of at most 1 .* found 5/);
  refuses(Buffer.from([0x32, ...Array(11).fill(0xff)]), /at most 10 bytes/);
  refuses(Buffer.from([0x32, 0x80]), /a whole number, found the end/);
  refuses(Buffer.from([0x03]), /field/);
  refuses(bytes(6, 'not empty'), /string_table\[0\] to be empty/);
});

test('every cut of a profile is refused or read', () => {
  const whole = profileOf([['leaf', 'root'], 3], [['other', 'root'], 4]);
  for (let length = 0; length < whole.length; length++) {
    try {
      decode(whole.subarray(0, length));
    } catch (error) {
      assert.match(error.message, /^byte \d+: expected /);
    }
  }
});

test('two profiles in one file are refused', () => {
  refuses(new ProfileWriter().put(number(9, 5), number(9, 6)).finish(), /several profiles in one file/);
});

test('values beyond 2^53 add up as in cpprof', () => {
  const top = (1n << 63n) - 1n;
  const one = analyse(profileOf([['leaf', 'root'], top], [['leaf', 'root'], -5n]));
  assert.deepEqual(costs(one), { leaf: [Number(top - 5n), Number(top - 5n)], root: [0, Number(top - 5n)] });
  assert.equal(one.totals(stateWith())[0], Number(BigInt.asIntN(64, top + 5n)));
  const wrapping = analyse(profileOf([['leaf'], top], [['leaf'], top]));
  assert.deepEqual(costs(wrapping), { leaf: [-2, -2] });
  const exact = analyse(profileOf([['a'], (1n << 60n) + 1n], [['a'], -(1n << 60n)]));
  assert.deepEqual(costs(exact), { a: [1, 1] });
});

test('names that are no UTF-8 stay different', () => {
  const names = [Buffer.from([0x66, 0xff]), Buffer.from([0x66, 0xfe]), Buffer.from([0xc3, 0xa9, 0x80])];
  const analysis = analyse(profileOf(...names.map((name, i) => [[name], i + 1])));
  assert.deepEqual(costs(analysis), { 'f\\xff': [1, 1], 'f\\xfe': [2, 2], 'é\\x80': [3, 3] });
});

test('equal strings are one function wherever they are in the table', () => {
  const writer = new ProfileWriter();
  writer.strings.push('same', 'same');
  writer.put(message(5, number(1, 1), number(2, 1)), message(5, number(1, 2), number(2, 2)));
  writer.put(message(4, number(1, 1), message(4, number(1, 1))), message(4, number(1, 2), message(4, number(1, 2))));
  writer.samples.push(message(2, bytes(1, [1, 2]), bytes(2, [7])));
  assert.deepEqual(costs(analyse(writer.finish())), { same: [7, 7] });
});

test('gzip is expanded, up to a limit', async () => {
  const data = profileOf([['leaf'], 1]);
  assert.deepEqual(Buffer.from(await gunzip(new Uint8Array(gzipSync(data)))), data);
  assert.deepEqual(Buffer.from(await gunzip(new Uint8Array(data))), data);
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(1 << 20)));
  await assert.rejects(gunzip(bomb, 1 << 16), /^Error: byte 65536: expected a profile of at most 65536 bytes/);
  const broken = new Uint8Array(gzipSync(data));
  broken[12] ^= 0xff;
  await assert.rejects(gunzip(broken), /expected valid gzip data/);
  await assert.rejects(gunzip(new Uint8Array(gzipSync(data)).subarray(0, 20)), /expected valid gzip data/);
});

test('base64 is decoded', () => {
  const data = Buffer.from([...Array(1000).keys()].map((i) => i % 256));
  assert.deepEqual(Buffer.from(decodeBase64(` ${data.toString('base64')}\n`)), data);
});
