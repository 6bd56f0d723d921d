// SPDX-License-Identifier: MIT
//
// decode.mjs: profile.proto, decoded into columns.
//
// A profile of a million samples would be hundreds of millions of bytes as objects. Here every member of every part
// is one typed array, and a reference is an index:
//
//   sample i    stack[stackBegin[i] .. stackEnd[i]), the leaf first   -> location
//               labels labelBegin[i] .. labelBegin[i + 1)             -> strings
//               values[type][i]
//   location j  lines lineBegin[j] .. lineBegin[j + 1)                -> function; mapping, or NONE
//
// A writer may put the parts in any order. One walk over the file notes where each part is and reads the strings; then
// mappings, functions, locations and samples are read in this order. Each reference is resolved where it is read, so
// that a complaint can name the byte.

import { Column } from './columns.mjs';
import { decodeText } from './text.mjs';
import { BYTES, FormatError, VARINT, Wire } from './wire.mjs';

/** The index that stands for "no mapping". */
export const NONE = 0xffffffff;

/** Field numbers of profile.proto. */
const PROFILE = {
  sampleType: 1, sample: 2, mapping: 3, location: 4, function: 5, string: 6, dropFrames: 7, keepFrames: 8,
  time: 9, duration: 10, periodType: 11, period: 12, comment: 13, defaultType: 14,
};

const PART_NAMES = [, 'a sample type', 'a sample', 'a mapping', 'a location', 'a function', 'a string', , , , ,
  'a period type'];

/**
 * @typedef {{type: string, unit: string}} ValueType
 * @typedef {object} Profile
 * @property {string[]} strings           equal texts have equal indices in all other columns
 * @property {ValueType[]} sampleTypes
 * @property {number} sampleCount
 * @property {import('./columns.mjs').Values[]} values   one column for each sample type
 * @property {Uint32Array} stack @property {Uint32Array} stackBegin @property {Uint32Array} stackEnd
 * @property {Uint32Array} labelBegin @property {Uint32Array} labelKey
 * @property {Uint32Array} labelText      the value; of a numeric label the unit
 * @property {Float64Array} labelNumber @property {Uint8Array} labelIsNumeric
 * @property {number} locationCount
 * @property {Uint32Array} locationMapping @property {Float64Array} locationAddress
 * @property {Uint32Array} lineBegin @property {Uint32Array} lineFunction @property {Float64Array} lineNumber
 * @property {Uint32Array} functionName @property {Uint32Array} functionSystemName
 * @property {Uint32Array} functionFile @property {Float64Array} functionStartLine
 * @property {Uint32Array} mappingFile @property {Uint32Array} mappingBuildId
 * @property {string[]} comments
 * @property {string} dropFrames @property {string} keepFrames
 * @property {number} timeNanos @property {number} durationNanos @property {number} period
 * @property {ValueType} periodType
 * @property {string} defaultType
 */

/** Ids below this one have at most three bytes. */
const DENSE = 1 << 21;

/** The indices of parts by their ids. Ids are mostly 1, 2, 3…; others need a Map. */
class Ids {
  /** @param {string} what @param {number} count */
  constructor(what, count) {
    this.what = what;
    this.dense = new Uint32Array(Math.min(count * 2 + 2, DENSE));
    this.sparse = new Map();
  }

  /** @param {Wire} wire the id was read last @param {number} offset @param {number} index */
  add(wire, offset, index) {
    if (wire.low === 0 && wire.high === 0) {
      throw new FormatError(offset, `expected a ${this.what} with an id, found id 0`);
    }
    if (this.look(wire) !== undefined) {
      throw new FormatError(offset, `expected a new ${this.what} id, found ${wire.digits()} for the second time`);
    }
    if (wire.high === 0 && wire.low < this.dense.length) {
      this.dense[wire.low] = index + 1;
    } else {
      this.sparse.set(wire.digits(), index);
    }
  }

  /** @param {Wire} wire @returns {number|undefined} */
  look(wire) {
    if (wire.high === 0 && wire.low < this.dense.length) {
      return this.dense[wire.low] ? this.dense[wire.low] - 1 : undefined;
    }
    return this.sparse.get(wire.digits());
  }

  /** The index of the part with the id that was read last. @param {Wire} wire @param {number} offset */
  find(wire, offset) {
    if (wire.high === 0 && wire.low < this.dense.length && this.dense[wire.low]) {
      return this.dense[wire.low] - 1;
    }
    const index = this.look(wire);
    if (index === undefined) {
      throw new FormatError(offset, `expected the id of a ${this.what}, found ${wire.digits()}, which none has`);
    }
    return index;
  }
}

/** Where the parts of one kind are: of each its key, its payload, and the end. */
class Parts {
  constructor() {
    this.offset = new Column(64);
    this.begin = new Column(64);
    this.finish = new Column(64);
  }

  get count() {
    return this.offset.length;
  }

  /** @param {Wire} wire */
  add(wire) {
    this.offset.push(wire.offset);
    this.begin.push(wire.begin);
    this.finish.push(wire.finish);
  }
}

class Decoder {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.wire = new Wire(bytes);
    this.inner = new Wire(bytes);
    this.nested = new Wire(bytes);
    this.parts = Array.from({ length: 6 }, () => new Parts());
    /** @type {string[]} */
    this.strings = [];
    /** @type {Uint32Array} the first index with the same text */
    this.canonical = new Uint32Array(0);
    /** whether the values are read as BigInts */
    this.big = false;
  }

  /** Calls `read` for each part of a kind. @param {number} kind @param {(wire: Wire, index: number) => void} read */
  each(kind, read) {
    const { wire, parts: { [kind]: { count, offset, begin, finish } } } = this;
    for (let index = 0; index < count; index++) {
      wire.offset = offset.data[index];
      wire.begin = begin.data[index];
      wire.finish = finish.data[index];
      read(wire, index);
    }
  }

  // ---- strings ----

  findParts() {
    const wire = this.wire.enter(0, this.bytes.length);
    while (wire.next()) {
      const name = PART_NAMES[wire.number];
      if (name) {
        wire.expect(BYTES, name);
      }
      if (wire.number === PROFILE.string) {
        this.addString(wire);
      } else if (wire.number <= PROFILE.function) {
        this.parts[wire.number].add(wire);
      }
    }
    if (this.strings.length === 0) {
      throw new FormatError(this.bytes.length,
        'expected a string_table, found the end of the profile without one');
    }
  }

  /** @param {Wire} wire */
  addString(wire) {
    if (this.strings.length === 0 && wire.begin !== wire.finish) {
      throw new FormatError(wire.offset,
        `expected string_table[0] to be empty, found ${wire.finish - wire.begin} bytes`);
    }
    this.strings.push(decodeText(this.bytes, wire.begin, wire.finish));
  }

  makeCanonical() {
    const first = new Map();
    this.canonical = new Uint32Array(this.strings.length);
    this.strings.forEach((text, index) => {
      const known = first.get(text);
      this.canonical[index] = known === undefined ? index : known;
      if (known === undefined) {
        first.set(text, index);
      }
    });
  }

  /** The string that the number read last stands for. @param {Wire} wire @param {number} offset */
  stringAt(wire, offset = wire.offset) {
    if (wire.high || wire.low >= this.strings.length) {
      throw new FormatError(offset, `expected a string index below ${this.strings.length} ` +
        `(the size of string_table), found ${wire.exact()}`);
    }
    return this.canonical[wire.low];
  }

  /** @param {Wire} wire @param {string} what */
  takeString(wire, what) {
    wire.expect(VARINT, what);
    return this.stringAt(wire);
  }

  /** @param {Wire} wire @param {string} what */
  takeNumber(wire, what) {
    wire.expect(VARINT, what);
    return wire.signed();
  }

  // ---- headers ----

  /** @param {Wire} outer @returns {ValueType} */
  valueType(outer) {
    const wire = this.inner.enter(outer.begin, outer.finish);
    const found = { type: '', unit: '' };
    while (wire.next()) {
      if (wire.number === 1) {
        found.type = this.strings[this.takeString(wire, "a value type's name")];
      } else if (wire.number === 2) {
        found.unit = this.strings[this.takeString(wire, "a value type's unit")];
      }
    }
    return found;
  }

  readHeaders() {
    const count = (/** @type {number} */ kind) => this.parts[kind].count;
    this.sampleTypes = [];
    this.comments = [];
    this.scalars = { dropFrames: '', keepFrames: '', timeNanos: 0, durationNanos: 0, period: 0, defaultType: '' };
    this.periodType = { type: '', unit: '' };
    this.mappingFile = new Uint32Array(count(PROFILE.mapping));
    this.mappingBuildId = new Uint32Array(count(PROFILE.mapping));
    this.functionName = new Uint32Array(count(PROFILE.function));
    this.functionSystemName = new Uint32Array(count(PROFILE.function));
    this.functionFile = new Uint32Array(count(PROFILE.function));
    this.functionStartLine = new Float64Array(count(PROFILE.function));
    this.mappings = new Ids('mapping', count(PROFILE.mapping));
    this.functions = new Ids('function', count(PROFILE.function));
    this.each(PROFILE.sampleType, (wire) => this.sampleTypes.push(this.valueType(wire)));
    this.each(PROFILE.mapping, (wire, index) => this.readMapping(wire, index));
    this.each(PROFILE.function, (wire, index) => this.readFunction(wire, index));
    const wire = this.wire.enter(0, this.bytes.length);
    while (wire.next()) {
      this.readScalar(wire);
    }
  }

  /** @param {Wire} wire */
  readScalar(wire) {
    const { scalars, strings } = this;
    switch (wire.number) {
      case PROFILE.periodType: this.periodType = this.valueType(wire); break;
      case PROFILE.dropFrames: scalars.dropFrames = strings[this.takeString(wire, 'drop_frames')]; break;
      case PROFILE.keepFrames: scalars.keepFrames = strings[this.takeString(wire, 'keep_frames')]; break;
      case PROFILE.time: this.readTime(wire); break;
      case PROFILE.duration: scalars.durationNanos = this.takeNumber(wire, 'the duration'); break;
      case PROFILE.period: scalars.period = this.takeNumber(wire, 'the period'); break;
      case PROFILE.comment: this.readComments(wire); break;
      case PROFILE.defaultType:
        scalars.defaultType = strings[this.takeString(wire, 'the default sample type')];
        break;
      default:
    }
  }

  /** @param {Wire} wire */
  readTime(wire) {
    if (this.scalars.timeNanos) {
      throw new FormatError(wire.offset, 'expected the end of the profile, found a second time stamp: these are ' +
        'several profiles in one file (join them with `cpprof merge`)');
    }
    this.scalars.timeNanos = this.takeNumber(wire, 'the time');
  }

  /** @param {Wire} wire */
  readComments(wire) {
    if (wire.type !== BYTES) {
      this.comments.push(this.strings[this.takeString(wire, 'a comment')]);
      return;
    }
    const packed = this.inner.enter(wire.begin, wire.finish);
    while (packed.at < packed.end) {
      packed.varint();
      this.comments.push(this.strings[this.stringAt(packed, wire.offset)]);
    }
  }

  /** @param {Wire} outer @param {number} index */
  readMapping(outer, index) {
    const wire = this.inner.enter(outer.begin, outer.finish);
    let low = 0, high = 0;
    while (wire.next()) {
      if (wire.number === 1) {
        wire.expect(VARINT, "a mapping's id");
        ({ low, high } = wire);
      } else if (wire.number === 5) {
        this.mappingFile[index] = this.takeString(wire, "a mapping's file");
      } else if (wire.number === 6) {
        this.mappingBuildId[index] = this.takeString(wire, "a mapping's build id");
      }
    }
    this.addId(this.mappings, low, high, outer.offset, index);
  }

  /** @param {Ids} ids @param {number} low @param {number} high @param {number} offset @param {number} index */
  addId(ids, low, high, offset, index) {
    this.nested.low = low;
    this.nested.high = high;
    ids.add(this.nested, offset, index);
  }

  /** @param {Wire} outer @param {number} index */
  readFunction(outer, index) {
    const wire = this.inner.enter(outer.begin, outer.finish);
    let low = 0, high = 0;
    while (wire.next()) {
      switch (wire.number) {
        case 1:
          wire.expect(VARINT, "a function's id");
          ({ low, high } = wire);
          break;
        case 2: this.functionName[index] = this.takeString(wire, "a function's name"); break;
        case 3: this.functionSystemName[index] = this.takeString(wire, "a function's system name"); break;
        case 4: this.functionFile[index] = this.takeString(wire, "a function's file"); break;
        case 5: this.functionStartLine[index] = this.takeNumber(wire, "a function's start line"); break;
        default:
      }
    }
    this.addId(this.functions, low, high, outer.offset, index);
  }

  // ---- locations ----

  readLocations() {
    const { count } = this.parts[PROFILE.location];
    this.locationMapping = new Uint32Array(count).fill(NONE);
    this.locationAddress = new Float64Array(count);
    this.lineBegin = new Uint32Array(count + 1);
    this.lineFunction = new Column();
    /** @type {number[]} */
    this.lineNumber = [];
    this.locations = new Ids('location', count);
    this.each(PROFILE.location, (wire, index) => this.readLocation(wire, index));
    this.lineBegin[count] = this.lineFunction.length;
  }

  /** @param {Wire} outer @param {number} index */
  readLocation(outer, index) {
    const wire = this.inner.enter(outer.begin, outer.finish);
    let low = 0, high = 0;
    this.lineBegin[index] = this.lineFunction.length;
    while (wire.next()) {
      if (wire.number === 1) {
        wire.expect(VARINT, "a location's id");
        ({ low, high } = wire);
      } else if (wire.number === 2) {
        wire.expect(VARINT, "a location's mapping id");
        const none = wire.low === 0 && wire.high === 0;
        this.locationMapping[index] = none ? NONE : this.mappings.find(wire, wire.offset);
      } else if (wire.number === 3) {
        wire.expect(VARINT, 'an address');
        this.locationAddress[index] = wire.unsigned();
      } else if (wire.number === 4) {
        wire.expect(BYTES, 'a line');
        this.readLine(wire);
      }
    }
    this.addId(this.locations, low, high, outer.offset, index);
  }

  /** @param {Wire} outer */
  readLine(outer) {
    const wire = this.nested.enter(outer.begin, outer.finish);
    let low = 0, high = 0, line = 0;
    while (wire.next()) {
      if (wire.number === 1) {
        wire.expect(VARINT, "a line's function id");
        ({ low, high } = wire);
      } else if (wire.number === 2) {
        line = this.takeNumber(wire, 'a line number');
      }
    }
    wire.low = low;
    wire.high = high;
    this.lineFunction.push(this.functions.find(wire, outer.offset));
    this.lineNumber.push(line);
  }

  // ---- samples ----

  readSamples() {
    const { count } = this.parts[PROFILE.sample];
    this.stack = new Column(Math.max(count * 16, 64));
    this.stackBegin = new Uint32Array(count + 1);
    this.labelBegin = new Uint32Array(count + 1);
    this.labelKey = new Column();
    this.labelText = new Column();
    /** @type {number[]} */
    this.labelNumber = [];
    /** @type {number[]} */
    this.labelIsNumeric = [];
    this.values = this.sampleTypes.map(() => new Float64Array(count));
    this.sums = new Float64Array(this.sampleTypes.length);
    this.each(PROFILE.sample, (wire, index) => this.readSample(wire, index));
    this.stackBegin[count] = this.stack.length;
    this.labelBegin[count] = this.labelKey.length;
    if (this.sums.some((sum) => sum > Number.MAX_SAFE_INTEGER)) {
      this.readExactValues();
    }
  }

  /** @param {Wire} outer @param {number} index */
  readSample(outer, index) {
    const wire = this.inner.enter(outer.begin, outer.finish);
    let valueCount = 0;
    this.stackBegin[index] = this.stack.length;
    this.labelBegin[index] = this.labelKey.length;
    while (wire.next()) {
      if (wire.number === 1) {
        this.readStack(wire);
      } else if (wire.number === 2) {
        valueCount = this.readValues(wire, index, valueCount);
      } else if (wire.number === 3) {
        wire.expect(BYTES, 'a label');
        this.readLabel(wire);
      }
    }
    if (valueCount !== this.sampleTypes.length) {
      throw new FormatError(outer.offset, `expected a sample with ${this.sampleTypes.length} values ` +
        `(one for each sample type), found ${valueCount}`);
    }
  }

  /** @param {Wire} wire */
  readStack(wire) {
    if (wire.type === VARINT) {
      this.stack.push(this.locations.find(wire, wire.offset));
      return;
    }
    wire.expect(BYTES, "a sample's locations");
    const { bytes, stack, locations: { dense } } = this, end = wire.finish;
    stack.reserve(end - wire.begin);
    const { data } = stack;
    let { length } = stack, at = wire.begin;
    while (at < end) {
      const start = at;
      let id = bytes[at++];
      if (id >= 0x80) {
        id = (id & 0x7f) | (bytes[at++] << 7);
        if (id >= 0x4000) {
          id = (id & 0x3fff) | (bytes[at++] << 14);
        }
      }
      // An id that is longer, cut short or unknown is no index of `dense`.
      if (at <= end && id < dense.length && dense[id]) {
        data[length++] = dense[id] - 1;
      } else {
        const packed = this.nested.enter(start, end);
        packed.varint();
        data[length++] = this.locations.find(packed, wire.offset);
        at = packed.at;
      }
    }
    stack.length = length;
  }

  /** Reads values from the `at`th type on. @param {Wire} wire @param {number} index @param {number} at */
  readValues(wire, index, at) {
    if (wire.type === VARINT) {
      return this.putValue(wire, index, at);
    }
    wire.expect(BYTES, "a sample's values");
    const packed = this.nested.enter(wire.begin, wire.finish);
    while (packed.at < packed.end) {
      packed.varint();
      at = this.putValue(packed, index, at);
    }
    return at;
  }

  /** @param {Wire} wire @param {number} index @param {number} at */
  putValue(wire, index, at) {
    if (at < this.values.length) {
      if (this.big) {
        this.values[at][index] = wire.exact();
      } else {
        const value = wire.signed();
        this.values[at][index] = value;
        this.sums[at] += Math.abs(value);
      }
    }
    return at + 1;
  }

  /** Reads the values again, for a profile whose sums no double holds. */
  readExactValues() {
    const { count } = this.parts[PROFILE.sample];
    this.big = true;
    this.values = this.sampleTypes.map(() => new BigInt64Array(count));
    this.each(PROFILE.sample, (outer, index) => {
      const wire = this.inner.enter(outer.begin, outer.finish);
      let at = 0;
      while (wire.next()) {
        at = wire.number === 2 ? this.readValues(wire, index, at) : at;
      }
    });
  }

  /** Drops a label that has neither a text nor a number, as cpprof does. @param {Wire} outer */
  readLabel(outer) {
    const wire = this.nested.enter(outer.begin, outer.finish);
    let key = 0, text = 0, unit = 0, number = 0, hasText = false, hasUnit = false;
    while (wire.next()) {
      switch (wire.number) {
        case 1: key = this.takeString(wire, "a label's key"); break;
        case 2:
          text = this.takeString(wire, "a label's text");
          hasText = wire.low !== 0;
          break;
        case 3: number = this.takeNumber(wire, "a label's number"); break;
        case 4:
          unit = this.takeString(wire, "a label's unit");
          hasUnit = wire.low !== 0;
          break;
        default:
      }
    }
    if (!hasText && !hasUnit && !number) {
      return;
    }
    this.labelKey.push(key);
    this.labelText.push(hasText ? text : unit);
    this.labelNumber.push(hasText ? 0 : number);
    this.labelIsNumeric.push(hasText ? 0 : 1);
  }

  /** @returns {Profile} */
  profile() {
    return {
      strings: this.strings,
      sampleTypes: this.sampleTypes,
      sampleCount: this.parts[PROFILE.sample].count,
      values: this.values,
      stack: this.stack.trimmed(),
      stackBegin: this.stackBegin.slice(0, -1),
      stackEnd: this.stackBegin.slice(1),
      labelBegin: this.labelBegin,
      labelKey: this.labelKey.trimmed(),
      labelText: this.labelText.trimmed(),
      labelNumber: Float64Array.from(this.labelNumber),
      labelIsNumeric: Uint8Array.from(this.labelIsNumeric),
      locationCount: this.parts[PROFILE.location].count,
      locationMapping: this.locationMapping,
      locationAddress: this.locationAddress,
      lineBegin: this.lineBegin,
      lineFunction: this.lineFunction.trimmed(),
      lineNumber: Float64Array.from(this.lineNumber),
      functionName: this.functionName,
      functionSystemName: this.functionSystemName,
      functionFile: this.functionFile,
      functionStartLine: this.functionStartLine,
      mappingFile: this.mappingFile,
      mappingBuildId: this.mappingBuildId,
      comments: this.comments,
      periodType: this.periodType,
      ...this.scalars,
    };
  }
}

/** Decodes a profile.proto that is not compressed. @param {Uint8Array} bytes @returns {Profile} */
export function decodeProfile(bytes) {
  const decoder = new Decoder(bytes);
  decoder.findParts();
  decoder.makeCanonical();
  decoder.readHeaders();
  decoder.readLocations();
  decoder.readSamples();
  return decoder.profile();
}
