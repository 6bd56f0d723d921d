// SPDX-License-Identifier: MIT
//
// search.mjs: regular expressions over names.

/**
 * Compiles an expression as cpprof's options have them. Without a capital letter it matches any case.
 * @param {string} pattern
 * @returns {{regex: RegExp|null, error: string}}
 */
export function compileSearch(pattern) {
  if (pattern === '') {
    return { regex: null, error: '' };
  }
  const insensitive = pattern.startsWith('(?i)');
  const bare = insensitive ? pattern.slice(4) : pattern;
  try {
    return { regex: new RegExp(bare, insensitive || bare === bare.toLowerCase() ? 'i' : ''), error: '' };
  } catch (error) {
    return { regex: null, error: error.message.replace(/^Invalid regular expression: /, '') };
  }
}

/** What a filter's text means: "=NAME" is that name, any other an expression. null: an invalid one. @param {string} text */
export function compileFilter(text) {
  return text.startsWith('=') ? { test: (/** @type {string} */ name) => name === text.slice(1) } : compileSearch(text).regex;
}

/** For each frame whether it matches. @param {import('./frames.mjs').Frames} frames @param {{test: (text: string) => boolean}} regex */
export function matchFrames(frames, regex) {
  return Uint8Array.from(frames.labels, (label) => (regex.test(label) ? 1 : 0));
}

/**
 * What the samples are worth in which any frame matches: the sum of the outermost matching nodes.
 * @param {import('./tree.mjs').Tree} tree one that is not partial
 * @param {Uint8Array} matched
 */
function matchedNodes(tree, matched) {
  const within = new Uint8Array(tree.count);
  let sum = 0;
  for (let node = 1; node < tree.count; node++) {
    const own = matched[tree.frame[node]], inherited = within[tree.parent[node]];
    within[node] = own | inherited;
    sum += own && !inherited ? tree.width[node] : 0;
  }
  return sum;
}

/** For each location whether one of its frames matches. @param {import('./frames.mjs').Source} source @param {Uint8Array} matched */
export function matchLocations({ profile: { locationCount }, first, ofLine }, matched) {
  const found = new Uint8Array(locationCount);
  for (let location = 0; location < locationCount; location++) {
    for (let at = first[location]; at < first[location + 1]; at++) {
      found[location] |= matched[ofLine[at]];
    }
  }
  return found;
}

/** The same, of the samples themselves. @param {import('./tree.mjs').Group[]} groups @param {Uint8Array} matched */
function matchedSamples(groups, matched) {
  let sum = 0;
  for (const { source, values, mask } of groups) {
    const { profile: { stack, stackEnd, sampleCount }, stackFirst } = source;
    const found = matchLocations(source, matched);
    for (let sample = 0; sample < sampleCount; sample++) {
      let at = stackFirst[sample];
      while (at < stackEnd[sample] && !found[stack[at]]) {
        at++;
      }
      sum += at < stackEnd[sample] && (!mask || mask[sample]) ? Math.abs(Number(values[sample])) : 0;
    }
  }
  return sum;
}

/**
 * What the samples are worth in which any frame matches.
 * @param {import('./tree.mjs').Group[]} groups @param {import('./tree.mjs').Tree} tree of these groups
 * @param {Uint8Array} matched
 */
export function matchedWidth(groups, tree, matched) {
  return tree.partial ? matchedSamples(groups, matched) : matchedNodes(tree, matched);
}
