// SPDX-License-Identifier: MIT
//
// page_profile.mjs SAMPLES LOCATIONS FRAMES OUT: writes a profile with stacks of FRAMES / 2 to FRAMES frames. Four locations are
// in one function. Stacks branch at every frame, unevenly, as those of real programs do. Equal arguments give equal bytes.

import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [samples, locations, frames] = process.argv.slice(2, 5).map(Number);
const out = process.argv[5];
const functions = Math.max(10, locations >> 2);
const strings = ['', 'samples', 'count', 'cpu', 'nanoseconds', '/usr/bin/big', '/usr/lib/libbig.so'];

let state = 12345;

function below(limit) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 4294967296) * limit);
}

/** A buffer for one message at a time, or for the file. */
class Message {
  /** @param {number} size the first one */
  constructor(size = 1 << 16) {
    this.data = Buffer.alloc(size);
    this.length = 0;
  }

  /** Makes room for so many more bytes. */
  reserve(count) {
    if (this.length + count > this.data.length) {
      const larger = Buffer.alloc(this.data.length * 2 + count);
      this.data.copy(larger);
      this.data = larger;
    }
  }

  varint(value) {
    while (value >= 128) {
      this.data[this.length++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.data[this.length++] = value;
    return this;
  }

  number(field, value) {
    return this.varint(field * 8).varint(value);
  }

  bytes(field, other) {
    this.varint(field * 8 + 2).varint(other.length);
    other.data.copy(this.data, this.length, 0, other.length);
    this.length += other.length;
    return this;
  }

  clear() {
    this.length = 0;
    return this;
  }
}

const outer = new Message(), inner = new Message(), file = new Message(1 << 28);

function put(field, content) {
  file.reserve(content.length + 16);
  file.bytes(field, content);
}

function putSample() {
  const depth = frames - below(frames >> 1), path = [];
  for (let i = 0, at = 1; i < depth; i++) {
    path.push(at);
    at = 1 + ((at * 31 + (i < 3 ? 0 : Math.min(below(3), below(3))) * 7 + 13) % locations);
  }
  inner.clear();
  path.reverse().forEach((id) => inner.varint(id));
  outer.clear().bytes(1, inner);
  put(2, outer.bytes(2, inner.clear().varint(1).varint(1e7)));
}

put(1, outer.clear().number(1, 1).number(2, 2));
put(1, outer.clear().number(1, 3).number(2, 4));
for (let id = 1; id <= 2; id++) {
  put(3, outer.clear().number(1, id).number(2, id << 20).number(3, (id << 20) + 900000).number(5, 4 + id));
}
for (let id = 1; id <= functions; id++) {
  put(5, outer.clear().number(1, id).number(2, strings.length));
  strings.push(`package_${id % 37}::function_number_${id}`);
}
for (let id = 1; id <= locations; id++) {
  const line = inner.clear().number(1, 1 + (id % functions)).number(2, (id % 1000) + 1);
  put(4, outer.clear().number(1, id).number(2, 1 + (id % 2)).number(3, (1 << 20) + id * 4).bytes(4, line));
}
for (let sample = 0; sample < samples; sample++) {
  putSample();
}
for (const text of strings) {
  const data = Buffer.from(text);
  put(6, { data, length: data.length });
}
writeFileSync(out, gzipSync(file.data.subarray(0, file.length), { level: 1 }));
