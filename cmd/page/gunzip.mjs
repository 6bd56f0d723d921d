// SPDX-License-Identifier: MIT
//
// gunzip.mjs: from the text in the page, or a response, to the bytes of a profile.

import { FormatError } from './wire.mjs';

/** What a profile may have after decompression. A browser holds it, and the columns made of it, in memory. */
export const MAX_BYTES = 384 << 20;

/** The bytes that a base64 text stands for. @param {string} text @returns {Uint8Array} */
export function decodeBase64(text) {
  const bare = text.trim();
  const native = /** @type {any} */ (Uint8Array).fromBase64;
  if (native) {
    return native.call(Uint8Array, bare);
  }
  const binary = atob(bare);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

/** @param {Uint8Array[]} parts @param {number} length */
function join(parts, length) {
  if (parts.length === 1) {
    return parts[0];
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {ReadableStreamDefaultReader<Uint8Array>} reader @param {number} limit */
async function readAll(reader, limit) {
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return join(parts, length);
    }
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new FormatError(limit, `expected a profile of at most ${limit} bytes, found more after decompression`);
    }
    parts.push(value);
  }
}

/**
 * The bytes of a profile, decompressed if they are gzip.
 * @param {Uint8Array} bytes @param {number} limit
 * @returns {Promise<Uint8Array>}
 */
export async function gunzip(bytes, limit = MAX_BYTES) {
  if (bytes.length < 2 || bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    return bytes;
  }
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream('gzip'));
  try {
    return await readAll(stream.getReader(), limit);
  } catch (error) {
    if (error instanceof FormatError) {
      throw error;
    }
    throw new FormatError(0, `expected valid gzip data (${bytes.length} bytes), found ${error.message}`);
  }
}
