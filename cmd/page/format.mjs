// SPDX-License-Identifier: MIT
//
// format.mjs: values with units in the form that people read, as cpprof prints them: 1536 bytes are 1.50kB.
//
// There are three families of units: memory, time, and GCU, a unit of computing time. A value in any other unit is
// printed unchanged, and a plain count ("count", "sample", "unit") without a unit.

const FAMILIES = [
  { base: 'B', factor: 1, units: [
    ['B', 1, 'b', 'byte'], ['kB', 2 ** 10, 'kb', 'kbyte', 'kilobyte'], ['MB', 2 ** 20, 'mb', 'mbyte', 'megabyte'],
    ['GB', 2 ** 30, 'gb', 'gbyte', 'gigabyte'], ['TB', 2 ** 40, 'tb', 'tbyte', 'terabyte'],
    ['PB', 2 ** 50, 'pb', 'pbyte', 'petabyte']] },
  { base: 's', factor: 1e9, units: [
    ['ns', 1, 'ns', 'nanosecond'], ['us', 1e3, 'μs', 'us', 'microsecond'], ['ms', 1e6, 'ms', 'millisecond'],
    ['s', 1e9, 's', 'sec', 'second'], ['hrs', 3600e9, 'hour', 'hr']] },
  { base: 'GCU', factor: 1, units: [
    ['n*GCU', 1e-9, 'nanogcu'], ['u*GCU', 1e-6, 'microgcu'], ['m*GCU', 1e-3, 'milligcu'], ['GCU', 1, 'gcu'],
    ['k*GCU', 1e3, 'kilogcu'], ['M*GCU', 1e6, 'megagcu'], ['G*GCU', 1e9, 'gigagcu'], ['T*GCU', 1e12, 'teragcu'],
    ['P*GCU', 1e15, 'petagcu']] },
];

const SILENT = ['count', 'sample', 'unit', 'minimum', 'auto'];

/** The target that stands for the largest unit in which a value is at least 1. */
export const MINIMUM = 'minimum';

/** @param {string} name */
function normalize(name) {
  const lower = name.toLowerCase();
  return lower.length > 2 && lower.endsWith('s') ? lower.slice(0, -1) : lower;
}

/** @param {typeof FAMILIES[0]} family @param {string} name */
function findUnit(family, name) {
  const normal = normalize(name);
  return family.units.find((unit) => unit.indexOf(normal, 2) > 0);
}

/** @param {typeof FAMILIES[0]} family @param {number} value @param {string} to @returns {[number, string]} */
function convert(family, value, to) {
  const unit = to === MINIMUM || to === 'auto'
    ? family.units.filter((one) => value / Number(one[1]) >= 1).pop()
    : findUnit(family, to);
  return unit ? [value / Number(unit[1]), String(unit[0])] : [value / family.factor, family.base];
}

/**
 * A value in another unit, and the name of that unit, often ''.
 * @param {number} value @param {string} from @param {string} to
 * @returns {[number, string]}
 */
export function scale(value, from, to) {
  if (value < 0) {
    const [scaled, unit] = scale(-value, from, to);
    return [-scaled, unit];
  }
  for (const family of FAMILIES) {
    const source = findUnit(family, from);
    if (source) {
      return convert(family, value * Number(source[1]), to);
    }
  }
  return [value, SILENT.includes(to) ? '' : to];
}

/** As C's %.2f: a tie goes to the even digit, where toFixed() rounds up. @param {number} value */
function twoDecimals(value) {
  const eighths = value * 8;
  if (Number.isInteger(eighths) && eighths % 2 !== 0 && Math.abs(value) < 2 ** 45) {
    const hundredths = Math.floor(Math.abs(value) * 100);
    const even = hundredths % 2 ? hundredths + 1 : hundredths;
    return `${value < 0 ? '-' : ''}${(even / 100).toFixed(2)}`;
  }
  return value.toFixed(2);
}

/** A value as a text such as "12.34ms". @param {number} value @param {string} from @param {string} to */
export function label(value, from, to = MINIMUM) {
  const [scaled, unit] = scale(value, from, to);
  const number = twoDecimals(scaled).replace(/\.00$/, '').replace(/^-0$/, '0');
  return number === '0' ? '0' : number + unit;
}

/** As C's %.2g of a number below 1. @param {number} value */
function twoDigits(value) {
  if (value === 0) {
    return '0';
  }
  const rounded = Number(value.toPrecision(2));
  if (rounded >= 1e-4) {
    return String(rounded);
  }
  return rounded.toExponential().replace(/e-(\d)$/, 'e-0$1');
}

/** |value / total| as "1.23%". @param {number} value @param {number} total */
export function percent(value, total) {
  const share = total ? Math.abs(value / total) * 100 : 0;
  if (share >= 99.95 && share <= 100.05) {
    return '100%';
  }
  return `${share >= 1 ? share.toFixed(2) : twoDigits(share)}%`;
}

/**
 * One unit for all rows of a table: the one in which the smallest value shown is still readable.
 * @param {Iterable<number>} values @param {number} total @param {string} unit
 */
export function commonUnit(values, total, unit) {
  let least = 0;
  for (const value of values) {
    const size = Math.abs(value);
    least = size > 0 && (least === 0 || size < least) ? size : least;
  }
  least ||= total;
  const smallest = scale(least, unit, MINIMUM)[1];
  const differs = smallest !== scale(total, unit, MINIMUM)[1];
  // Two decimals show a hundredth, so the unit may be a hundred times as large.
  const chosen = differs && least * 100 < total ? scale(least * 100, unit, MINIMUM)[1] : smallest;
  return chosen || unit;
}

/** The date of a profile. @param {number} nanos since 1970 */
export function dateText(nanos) {
  return new Date(nanos / 1e6).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
