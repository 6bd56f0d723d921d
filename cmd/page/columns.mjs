// SPDX-License-Identifier: MIT
//
// columns.mjs: arrays of numbers that grow, and the sums of values.

/** An array of 32-bit numbers without a sign that grows. */
export class Column {
  /** @param {number} capacity */
  constructor(capacity = 1024) {
    this.data = new Uint32Array(capacity);
    this.length = 0;
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this.data.length) {
      this.reserve(this.length);
    }
    this.data[this.length++] = value;
  }

  /** Makes room for so many more. @param {number} count */
  reserve(count) {
    if (this.length + count > this.data.length) {
      const larger = new Uint32Array(Math.max(this.length + count, this.data.length * 2));
      larger.set(this.data);
      this.data = larger;
    }
  }

  /** The numbers, in an array of their length. */
  trimmed() {
    return this.data.subarray(0, this.length);
  }
}

/**
 * Values are 64 bits wide. A profile whose values add up to less than 2^53 has them as doubles, which are exact
 * there. Any other profile has them as BigInts, whose sums wrap around as they do in cpprof.
 * @typedef {Float64Array|BigInt64Array} Values
 */

/** An array of zeros for sums of such values. @param {Values} values @param {number} length @returns {any} */
export function sumsFor(values, length) {
  return values instanceof BigInt64Array ? new BigInt64Array(length) : new Float64Array(length);
}

/** Sums as numbers, each rounded once. @param {Values} sums @returns {Float64Array} */
export function asNumbers(sums) {
  return sums instanceof Float64Array ? sums : Float64Array.from(sums, Number);
}

/** The sum of the absolute values. @param {Values} values @returns {number} */
export function totalOf(values) {
  if (values instanceof Float64Array) {
    let total = 0;
    for (let i = 0; i < values.length; i++) {
      total += Math.abs(values[i]);
    }
    return total;
  }
  let total = 0n;
  for (const value of values) {
    total += value < 0n ? -value : value;
  }
  return Number(BigInt.asIntN(64, total));
}
