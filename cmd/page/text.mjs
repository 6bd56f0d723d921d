// SPDX-License-Identifier: MIT
//
// text.mjs: the strings of a profile, which may hold any bytes.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes that are no UTF-8 become \xNN, so that different names stay different. @param {Uint8Array} bytes */
function decodeBroken(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    let length = 1;
    let piece = `\\x${bytes[at].toString(16).padStart(2, '0')}`;
    for (let tried = 1; tried <= 4 && at + tried <= bytes.length; tried++) {
      try {
        piece = strict.decode(bytes.subarray(at, at + tried));
        length = tried;
        break;
      } catch {
        // one byte more may make it whole
      }
    }
    text += piece;
    at += length;
  }
  return text;
}

/** The text of a string in a profile. @param {Uint8Array} bytes @param {number} begin @param {number} end */
export function decodeText(bytes, begin, end) {
  const part = bytes.subarray(begin, end);
  try {
    return strict.decode(part);
  } catch {
    return decodeBroken(part);
  }
}

/** The last part of a path, as cpprof prints it: "/usr/bin/" is "bin". @param {string} path */
export function baseName(path) {
  const bare = path.replace(/\/+$/, '');
  return bare === '' ? (path === '' ? '' : '/') : bare.slice(bare.lastIndexOf('/') + 1);
}

/** A text that fits into `columns` characters; the end of it gives way. @param {string} text @param {number} columns */
export function shorten(text, columns) {
  return text.length <= columns ? text : `${text.slice(0, Math.max(columns - 1, 0))}…`;
}
