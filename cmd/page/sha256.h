/* SPDX-License-Identifier: MIT
 *
 * sha256.h: SHA-256 (FIPS 180-4), with which a page names the script that it permits.
 *
 * Zone: NORMAL, at build time
 */
#ifndef CP_PAGE_SHA256_H
#define CP_PAGE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

void sha256(const void *data, size_t length, uint8_t digest[SHA256_BYTES]);

#endif
