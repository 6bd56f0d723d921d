// SPDX-License-Identifier: MIT
//
// wire.mjs: a reader of protobuf's wire format.
//
// A reader goes over an array of bytes and keeps no copy of it. Every complaint begins with the byte where the
// unexpected thing is, as those of cpprof do.

/** The kinds of a field's payload. */
export const VARINT = 0;
export const BYTES = 2;

/** What is wrong with the bytes of a profile. */
export class FormatError extends Error {
  /** @param {number} offset @param {string} what */
  constructor(offset, what) {
    super(`byte ${offset}: ${what}`);
    this.offset = offset;
  }
}

/**
 * A place in a message. After next(), `number`, `type` and `offset` are those of the field; its payload is a number
 * (`low` and `high`, 32 bits each), or the bytes from `begin` to `finish`.
 */
export class Wire {
  /** @param {Uint8Array} bytes @param {number} at @param {number} end */
  constructor(bytes, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.number = 0;
    this.type = 0;
    this.offset = 0;
    this.low = 0;
    this.high = 0;
    this.begin = 0;
    this.finish = 0;
  }

  /** Lets the reader go over the bytes of a nested message. @param {number} begin @param {number} finish */
  enter(begin, finish) {
    this.at = begin;
    this.end = finish;
    return this;
  }

  /** Reads a number of up to 64 bits into `low` and `high`. */
  varint() {
    const first = this.bytes[this.at];
    if (first < 0x80 && this.at < this.end) {
      this.at++;
      this.low = first;
      this.high = 0;
      return;
    }
    this.longVarint();
  }

  longVarint() {
    const start = this.at;
    const limit = Math.min(this.end, start + 10);
    let low = 0, high = 0, shift = 0;
    for (let at = start; at < limit; at++, shift += 7) {
      const byte = this.bytes[at], bits = byte & 0x7f;
      if (shift < 28) {
        low |= bits << shift;
      } else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (shift < 64) {
        high |= bits << (shift - 32);
      }
      if (byte < 0x80) {
        this.at = at + 1;
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    if (this.end - start < 10) {
      throw new FormatError(start, 'expected a whole number, found the end of the message within it');
    }
    throw new FormatError(start, 'expected a number of at most 10 bytes, found a longer one');
  }

  /** The number that was read last, without a sign; above 2^53 it is rounded. */
  unsigned() {
    return this.high * 0x100000000 + this.low;
  }

  /** The number that was read last, with a sign; beyond 2^53 it is rounded. */
  signed() {
    return (this.high | 0) * 0x100000000 + this.low;
  }

  /** The number that was read last, exactly. @returns {bigint} */
  exact() {
    return BigInt.asIntN(64, (BigInt(this.high) << 32n) | BigInt(this.low));
  }

  /** The number that was read last, as decimal digits. */
  digits() {
    return String((BigInt(this.high) << 32n) | BigInt(this.low));
  }

  /** Goes to the next field; false at the end of the message. */
  next() {
    if (this.at >= this.end) {
      return false;
    }
    this.offset = this.at;
    this.varint();
    this.type = this.low & 7;
    this.number = this.high * 0x20000000 + (this.low >>> 3);
    if (this.number === 0) {
      throw new FormatError(this.offset, 'expected a field number, found 0');
    }
    this.payload();
    return true;
  }

  payload() {
    switch (this.type) {
      case VARINT:
        this.need('a number');
        this.varint();
        return;
      case BYTES:
        this.lengthAndBytes();
        return;
      case 1:
        this.fixed(8);
        return;
      case 5:
        this.fixed(4);
        return;
      default:
        throw new FormatError(this.offset, `expected a field of a known type, found type ${this.type}`);
    }
  }

  /** @param {string} what */
  need(what) {
    if (this.at >= this.end) {
      throw new FormatError(this.at, `expected ${what}, found the end of the message`);
    }
  }

  lengthAndBytes() {
    const start = this.at;
    this.need('a length');
    this.varint();
    const left = this.end - this.at, length = this.unsigned();
    if (length > left) {
      throw new FormatError(start,
        `expected a length of at most ${left} (the rest of the message), found ${this.digits()}`);
    }
    this.begin = this.at;
    this.finish = this.at = this.at + length;
  }

  /** @param {number} size */
  fixed(size) {
    if (this.end - this.at < size) {
      throw new FormatError(this.at,
        `expected a number of ${size} bytes, found only ${this.end - this.at} before the end`);
    }
    this.at += size;
  }

  /** Fails unless the payload of this field is of the type. @param {number} type @param {string} what */
  expect(type, what) {
    if (this.type !== type) {
      const wanted = type === VARINT ? 'a number' : 'bytes';
      throw new FormatError(this.offset, `expected ${what} as ${wanted}, found wire type ${this.type}`);
    }
  }
}
