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

/** For each frame whether it matches. @param {import('./frames.mjs').Frames} frames @param {RegExp} regex */
export function matchFrames(frames, regex) {
  return Uint8Array.from(frames.labels, (label) => (regex.test(label) ? 1 : 0));
}

/**
 * What the samples are worth in which any frame matches: the sum of the outermost matching nodes.
 * @param {import('./tree.mjs').Tree} tree @param {Uint8Array} matched
 */
export function matchedWidth(tree, matched) {
  const within = new Uint8Array(tree.count);
  let sum = 0, count = 0;
  for (let node = 1; node < tree.count; node++) {
    const own = matched[tree.frame[node]];
    const inherited = within[tree.parent[node]];
    within[node] = own | inherited;
    count += own;
    sum += own && !inherited ? tree.width[node] : 0;
  }
  return { sum, count };
}
