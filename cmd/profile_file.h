/* SPDX-License-Identifier: MIT
 *
 * profile_file.h: from a file name to a profile.
 *
 * Reads gzip (also several members in a row), plain profile.proto and the CPU format of gperftools,
 * told apart by their first bytes. Nothing in the file can make the command allocate without bound:
 * what is read and what it decompresses to are both limited.
 */
#ifndef CP_PROFILE_FILE_H
#define CP_PROFILE_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cp_bytes cp_bytes;
typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* More than any profile that a person can look at, less than what makes a laptop swap for long. */
#define CP_PROFILE_MAX_BYTES ((size_t)2 << 30)

/* "-" is standard input. Returns 0 and a profile to be freed with cp_profile_free(), or -1 with a
 * sentence that begins with the path. */
int cp_profile_read_file(const char *path, cp_profile **out, cp_error *error);

/* The same for bytes in memory, decompressing to at most `limit` bytes; the sentence begins with
 * "byte OFFSET: ". */
int cp_profile_read_bytes(const uint8_t *data, size_t length, size_t limit, cp_profile **out,
                          cp_error *error);

/* Writes the profile, gzipped, to `path`: to a temporary file beside it that is then renamed; what
 * exists and is no regular file (a pipe, /dev/stdout) is written in place. Mode 0600 for a new
 * file. Returns 0, or -1 with a sentence that begins with the path. */
int cp_profile_write_file(const char *path, const cp_profile *profile, cp_error *error);

/* The way cp_profile_write_file() puts bytes in their place. */
int cp_file_put(const char *path, const cp_bytes *bytes, cp_error *error);

/* All of an open file; `limit` bounds it. Returns 0, -EFBIG, or -errno. */
int cp_file_get(int fd, size_t limit, cp_bytes *bytes);

#endif
