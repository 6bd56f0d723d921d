// SPDX-License-Identifier: MIT
//
// profile_writer.mjs: writes profile.proto for tests, also such as no program should write.

/** @param {bigint|number} value */
export function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | 128);
  }
  return [...bytes, Number(rest)];
}

/** A field with a number. */
export function number(field, value) {
  return [...varint(field << 3), ...varint(value)];
}

/** A field with bytes, in an array or a Buffer. */
export function bytes(field, content) {
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(content.length)]), Buffer.from(content)]);
}

/** A message of fields. */
export function message(field, ...parts) {
  return bytes(field, Buffer.concat(parts.map((part) => Buffer.from(part))));
}

/**
 * Writes a profile of stacks, the leaf first: {stack: ['leaf', 'root'], value: 1} or {values: [1, 2], labels: {a: 'b', n: 5}}.
 * A function is "name", "name@file:line", or ["inlined", "outer"], which is one location. `types` are pairs of type and unit.
 */
export class ProfileWriter {
  constructor(types = [['samples', 'count']]) {
    this.types = types;
    this.strings = [''];
    this.index = new Map([['', 0]]);
    this.functions = new Map();
    this.locations = new Map();
    this.samples = [];
    this.parts = [];
    this.mapping = '/usr/bin/victim';
  }

  string(text) {
    const key = Buffer.isBuffer(text) ? `bytes ${text.toString('hex')}` : text;
    if (!this.index.has(key)) {
      this.index.set(key, this.strings.length);
      this.strings.push(text);
    }
    return this.index.get(key);
  }

  functionId(name, file) {
    const key = `${Buffer.isBuffer(name) ? name.toString('hex') : name}@${file}`;
    if (!this.functions.has(key)) {
      this.functions.set(key, this.functions.size + 1);
      this.parts.push(message(5, number(1, this.functions.size), number(2, this.string(name)),
        number(3, this.string(name)), number(4, this.string(file))));
    }
    return this.functions.get(key);
  }

  line(text) {
    const [, name, file, line] = Buffer.isBuffer(text) ? [, text, '', 0] : text.match(/^(.*?)(?:@(.*):(\d+))?$/s);
    return message(4, number(1, this.functionId(name, file || '')), number(2, line || 0));
  }

  locationId(frame) {
    const key = JSON.stringify(frame);
    if (!this.locations.has(key)) {
      this.locations.set(key, this.locations.size + 1);
      const lines = [frame].flat().filter((one) => one !== null).map((one) => this.line(one));
      this.parts.push(message(4, number(1, this.locations.size), number(2, 1), number(3, 4096 + this.locations.size),
        ...lines));
    }
    return this.locations.get(key);
  }

  add({ stack, value, values = [value], labels = {} }) {
    const ids = Buffer.from(stack.flatMap((frame) => varint(this.locationId(frame))));
    const texts = Object.entries(labels).map(([key, text]) => message(3, number(1, this.string(key)),
      typeof text === 'number' ? number(3, text) : number(2, this.string(text))));
    this.samples.push(message(2, bytes(1, ids), bytes(2, values.flatMap(varint)), ...texts));
    return this;
  }

  /** Adds any top-level field. */
  put(...parts) {
    this.parts.push(...parts.map((part) => Buffer.from(part)));
    return this;
  }

  finish() {
    const types = this.types.map(([type, unit]) => message(1, number(1, this.string(type)), number(2, this.string(unit))));
    const mapping = message(3, number(1, 1), number(2, 4096), number(3, 1 << 30), number(5, this.string(this.mapping)));
    return Buffer.concat([...types, ...this.samples, mapping, ...this.parts,
      ...this.strings.map((text) => bytes(6, Buffer.from(text)))]);
  }
}

/** A profile of one type with these stacks: [['leaf', 'root'], 3]. */
export function profileOf(...stacks) {
  const writer = new ProfileWriter();
  stacks.forEach(([stack, value, labels]) => writer.add({ stack, value, labels }));
  return writer.finish();
}
