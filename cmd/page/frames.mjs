// SPDX-License-Identifier: MIT
//
// frames.mjs: the frames of one or two profiles.
//
// A frame is a function name, wherever it occurs, or a program, for all of its addresses without a name: the rows of
// `cpprof top`. Two profiles that are compared share a table, so that a frame has one number in both.

import { NONE } from './decode.mjs';
import { prune } from './prune.mjs';
import { baseName } from './text.mjs';

/**
 * A profile over a table of frames. Location j has the frames ofLine[first[j] .. first[j + 1]), the innermost first;
 * `lineAt` says which line of the profile each is, or NONE.
 * @typedef {object} Source
 * @property {import('./decode.mjs').Profile} profile
 * @property {Uint32Array} stackFirst
 * @property {Uint32Array} first @property {Uint32Array} ofLine @property {Uint32Array} lineAt
 */

export class Frames {
  constructor() {
    /** @type {string[]} the text in reports */
    this.labels = [];
    /** @type {string[]} base name of the object file; '' if it is not known */
    this.modules = [];
    /** @type {string[]} the source file, or '' */
    this.files = [];
    /** @type {string[]} the symbol, if it is not the label */
    this.symbols = [];
    /** @type {Map<string, number>} */
    this.byKey = new Map();
  }

  get count() {
    return this.labels.length;
  }

  /** @param {string} key @param {string} label @param {string} module */
  put(key, label, module) {
    const known = this.byKey.get(key);
    if (known !== undefined) {
      this.modules[known] ||= module;
      return known;
    }
    this.byKey.set(key, this.labels.length);
    this.labels.push(label);
    this.modules.push(module);
    this.files.push('');
    this.symbols.push('');
    return this.labels.length - 1;
  }

  /** The frame with that label, or -1. @param {string} label */
  find(label) {
    const named = this.byKey.get(`n${label}`);
    return named !== undefined ? named : this.labels.indexOf(label);
  }
}

/** @param {string} file the object file of an address without a name */
function namelessLabel(file) {
  return file === '' ? '<unknown>' : `[${baseName(file)}]`;
}

/** Whether the name is "scheme:...": where a profile came from, not a program. @param {string} file */
function isUrl(file) {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(file);
}

/** The files of mappings as reports show them. @param {import('./decode.mjs').Profile} profile */
function mappingFiles(profile) {
  return Array.from(profile.mappingFile, (index, mapping) => {
    const file = profile.strings[index];
    return isUrl(file) && profile.strings[profile.mappingBuildId[mapping]] === '' ? '' : file;
  });
}

class SourceBuilder {
  /** @param {Frames} frames @param {import('./decode.mjs').Profile} profile */
  constructor(frames, profile) {
    this.frames = frames;
    this.profile = profile;
    this.files = mappingFiles(profile);
    this.modules = this.files.map(baseName);
    /** the frame of each name, + 1 */
    this.ofName = new Uint32Array(profile.strings.length);
  }

  /** @param {number} location @param {number} line an index of the profile's lines, or NONE */
  frame(location, line) {
    const { profile, frames } = this;
    const mapping = profile.locationMapping[location];
    const file = mapping === NONE ? '' : this.files[mapping];
    const module = mapping === NONE ? '' : this.modules[mapping];
    const aFunction = line === NONE ? NONE : profile.lineFunction[line];
    const name = aFunction === NONE ? 0 : profile.functionName[aFunction];
    if (name === 0) {
      const startLine = aFunction === NONE ? 0 : profile.functionStartLine[aFunction];
      return frames.put(`p${startLine} ${file}`, namelessLabel(file), module);
    }
    if (!this.ofName[name]) {
      const label = profile.strings[name];
      const frame = frames.put(`n${label}`, label, module);
      this.describe(frame, aFunction, label);
      this.ofName[name] = frame + 1;
    }
    const frame = this.ofName[name] - 1;
    frames.modules[frame] ||= module;
    return frame;
  }

  /** @param {number} frame @param {number} aFunction @param {string} label */
  describe(frame, aFunction, label) {
    const { strings, functionFile, functionSystemName } = this.profile;
    const symbol = strings[functionSystemName[aFunction]];
    this.frames.files[frame] ||= strings[functionFile[aFunction]];
    this.frames.symbols[frame] ||= symbol === label ? '' : symbol;
  }
}

/**
 * Adds a profile's frames to the table.
 * @param {Frames} frames @param {import('./decode.mjs').Profile} profile
 * @returns {Source}
 */
export function addSource(frames, profile) {
  const { lineFirst, lineEnd, stackFirst } = prune(profile);
  const builder = new SourceBuilder(frames, profile);
  const first = new Uint32Array(profile.locationCount + 1);
  const most = profile.lineFunction.length + profile.locationCount;
  const ofLine = new Uint32Array(most), lineAt = new Uint32Array(most);
  let at = 0;
  for (let location = 0; location < profile.locationCount; location++) {
    first[location] = at;
    for (let line = lineFirst[location]; line < lineEnd[location]; line++) {
      lineAt[at] = line;
      ofLine[at++] = builder.frame(location, line);
    }
    if (lineFirst[location] === lineEnd[location]) {
      lineAt[at] = NONE;
      ofLine[at++] = builder.frame(location, NONE);
    }
  }
  first[profile.locationCount] = at;
  return { profile, stackFirst, first, ofLine: ofLine.subarray(0, at), lineAt: lineAt.subarray(0, at) };
}

/** A buffer for the frames of one stack. */
export class Stack {
  constructor() {
    this.frames = new Uint32Array(256);
    this.length = 0;
  }

  /** Fills the buffer with the frames of a sample, the root first. @param {Source} source @param {number} sample */
  fill(source, sample) {
    const { profile: { stack, stackEnd }, stackFirst, first, ofLine } = source;
    const begin = stackFirst[sample];
    let frames = this.frames, length = 0;
    for (let i = stackEnd[sample]; i-- > begin;) {
      const location = stack[i], inner = first[location];
      let line = first[location + 1];
      if (length + line - inner > frames.length) {
        frames = this.grow(length + line - inner);
      }
      while (line-- > inner) {
        frames[length++] = ofLine[line];
      }
    }
    this.length = length;
  }

  /** @param {number} needed */
  grow(needed) {
    const larger = new Uint32Array(needed * 2);
    larger.set(this.frames);
    this.frames = larger;
    return larger;
  }
}
