// SPDX-License-Identifier: MIT
//
// prune.mjs: a profile's own drop_frames and keep_frames.
//
// From the root on, the first frame that matches drop_frames and not keep_frames is removed with all frames that it
// called. A frame at the root stays. An expression that is invalid here is ignored: the reader cannot mend it. So is one
// that repeats a group: JavaScript may need years for it, and whoever wrote the profile may have meant that.

/** @param {string} pattern @returns {RegExp|null} */
function compileWhole(pattern) {
  try {
    return /\)[*+{]/.test(pattern) ? null : new RegExp(`^(${pattern})$`, 's');
  } catch {
    return null;
  }
}

/** A demangled name without its parameter list. @param {string} name */
function withoutParameters(name) {
  const reserved = /\(anonymous namespace\)|operator\(\)|\(/g;
  for (let found = reserved.exec(name); found; found = reserved.exec(name)) {
    if (found[0] === '(') {
      return name.slice(0, found.index);
    }
  }
  return name;
}

/** One number for each function: whether it is dropped. @param {import('./decode.mjs').Profile} profile */
function droppedFunctions(profile, drop, keep) {
  return Uint8Array.from(profile.functionName, (index) => {
    const name = withoutParameters(profile.strings[index].replace(/^\./, ''));
    return profile.strings[index] !== '' && drop.test(name) && !(keep && keep.test(name)) ? 1 : 0;
  });
}

/** Cuts lines off locations. Returns for each: 0 kept, 1 pruned whole, 2 pruned beneath a frame that stays. */
function pruneLocations(profile, dropped, lineFirst, lineEnd) {
  const marks = new Uint8Array(profile.locationCount);
  for (let location = 0; location < marks.length; location++) {
    for (let line = lineEnd[location] - 1; line >= lineFirst[location]; line--) {
      if (dropped[profile.lineFunction[line]]) {
        const whole = line === lineEnd[location] - 1;
        marks[location] = whole ? 1 : 2;
        lineFirst[location] = whole ? lineFirst[location] : line + 1;
        break;
      }
    }
  }
  return marks;
}

/** @param {import('./decode.mjs').Profile} profile @param {Uint8Array} marks @param {Uint32Array} stackFirst */
function pruneStacks(profile, marks, stackFirst) {
  for (let sample = 0; sample < profile.sampleCount; sample++) {
    let kept = false;
    for (let at = profile.stackEnd[sample]; at-- > profile.stackBegin[sample];) {
      const mark = marks[profile.stack[at]];
      if (mark === 0) {
        kept = true;
      } else if (kept) {
        stackFirst[sample] = mark === 1 ? at + 1 : at;
        break;
      }
    }
  }
}

/**
 * Where each stack and each location's lines begin after pruning.
 * @param {import('./decode.mjs').Profile} profile
 */
export function prune(profile) {
  const lineFirst = profile.lineBegin.slice(0, -1), lineEnd = profile.lineBegin.subarray(1);
  const stackFirst = profile.stackBegin.slice();
  const drop = profile.dropFrames ? compileWhole(profile.dropFrames) : null;
  const keep = profile.keepFrames ? compileWhole(profile.keepFrames) : null;
  if (drop && (keep || !profile.keepFrames)) {
    const dropped = droppedFunctions(profile, drop, keep);
    pruneStacks(profile, pruneLocations(profile, dropped, lineFirst, lineEnd), stackFirst);
  }
  return { lineFirst, lineEnd, stackFirst };
}
