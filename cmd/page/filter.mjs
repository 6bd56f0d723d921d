// SPDX-License-Identifier: MIT
//
// filter.mjs: which samples count.
//
// An expression matches a sample if it matches a function, a source file or a program on its stack, as --focus and
// --ignore of cpprof do; a name, if a frame has it. A label filter is KEY=VALUE; of one key any value suffices, of several keys each must hold.

import { NONE } from './decode.mjs';
import { label } from './format.mjs';
import { compileFilter, matchFrames, matchLocations } from './search.mjs';

/** For each location whether the expression matches it. @param {import('./decode.mjs').Profile} profile */
function matchTexts(profile, regex) {
  const ofString = new Int8Array(profile.strings.length).fill(-1);
  const matches = (/** @type {number} */ index) => {
    if (ofString[index] < 0) {
      ofString[index] = regex.test(profile.strings[index]) ? 1 : 0;
    }
    return ofString[index] === 1;
  };
  const found = new Uint8Array(profile.locationCount);
  for (let location = 0; location < found.length; location++) {
    const mapping = profile.locationMapping[location];
    let any = mapping !== NONE && matches(profile.mappingFile[mapping]);
    for (let line = profile.lineBegin[location]; !any && line < profile.lineBegin[location + 1]; line++) {
      const index = profile.lineFunction[line];
      any = matches(profile.functionName[index]) || matches(profile.functionFile[index]);
    }
    found[location] = any ? 1 : 0;
  }
  return found;
}

/** @param {import('./frames.mjs').Source} source @param {number} sample @param {Uint8Array} found */
function stackHas({ profile, stackFirst }, sample, found) {
  for (let at = stackFirst[sample]; at < profile.stackEnd[sample]; at++) {
    if (found[profile.stack[at]]) {
      return true;
    }
  }
  return false;
}

/** A label's value as a text; a number has its unit. @param {import('./decode.mjs').Profile} profile */
export function labelText(profile, index) {
  const text = profile.strings[profile.labelText[index]];
  return profile.labelIsNumeric[index] ? label(profile.labelNumber[index], text, text || 'auto') : text;
}

/** "!key=value" in its parts. @param {string} filter */
export function parseLabel(filter) {
  const negated = filter.startsWith('!');
  const bare = negated ? filter.slice(1) : filter;
  const at = bare.indexOf('=');
  return { negated, key: bare.slice(0, at), value: bare.slice(at + 1) };
}

/** Clears the samples whose labels do not pass. */
function filterByLabels(profile, mask, filters) {
  const parsed = filters.map(parseLabel);
  const wanted = new Set(parsed.filter((one) => !one.negated).map((one) => one.key));
  for (let sample = 0; sample < mask.length; sample++) {
    const held = new Set();
    for (let at = profile.labelBegin[sample]; at < profile.labelBegin[sample + 1]; at++) {
      const key = profile.strings[profile.labelKey[at]];
      const value = labelText(profile, at);
      for (const one of parsed) {
        if (one.key === key && one.value === value) {
          held.add(one.negated ? '!' : key);
        }
      }
    }
    if (held.has('!') || [...wanted].some((key) => !held.has(key))) {
      mask[sample] = 0;
    }
  }
}

/**
 * A number for each sample: 1 if it counts. null: all count.
 * @param {import('./frames.mjs').Source} source @param {import('./frames.mjs').Frames} frames
 * @param {[string, string][]} filters
 */
export function sampleMask(source, frames, filters) {
  const { profile } = source;
  const labels = filters.filter(([kind]) => kind === 'labels').map(([, text]) => text);
  const stacks = filters.filter(([kind, text]) => /focus|ignore/.test(kind) && compileFilter(text));
  if (!stacks.length && !labels.length) {
    return null;
  }
  const mask = new Uint8Array(profile.sampleCount).fill(1);
  for (const [kind, text] of stacks) {
    const test = compileFilter(text);
    const found = text.startsWith('=') ? matchLocations(source, matchFrames(frames, test)) : matchTexts(profile, test);
    for (let sample = 0; sample < mask.length; sample++) {
      mask[sample] &= stackHas(source, sample, found) === (kind === 'focus') ? 1 : 0;
    }
  }
  if (labels.length) {
    filterByLabels(profile, mask, labels);
  }
  return mask;
}
