/* SPDX-License-Identifier: MIT
 *
 * profile_file.h: from a file name to a profile.
 *
 * Reads gzip (also several members in a row), plain profile.proto and the CPU format of gperftools,
 * told apart by their first bytes. Nothing in the file can make the command allocate without bound:
 * what is read and what it decompresses to are both limited.
 */
#ifndef CPPROF_PROFILE_FILE_H
#define CPPROF_PROFILE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct pp_bytes;
struct pp_error;
struct pp_profile;

/* More than any profile that a person can look at, less than what makes a laptop swap for long. */
#define PP_PROFILE_MAX_BYTES ((size_t)2 << 30)

/* "-" is standard input. Returns 0 and a profile to be freed with pp_profile_free(), or -1 with a
 * sentence that begins with the path. */
int pp_profile_read_file(const char *path, struct pp_profile **out, struct pp_error *error);

/* The same for bytes in memory, decompressing to at most `limit` bytes; the sentence begins with
 * "byte OFFSET: ". */
int pp_profile_read_bytes(const uint8_t *data, size_t length, size_t limit, struct pp_profile **out,
                          struct pp_error *error);

/* Writes the profile, gzipped, to `path`: to a temporary file beside it that is then renamed; what
 * exists and is no regular file (a pipe, /dev/stdout) is written in place. Mode 0600 for a new
 * file. Returns 0, or -1 with a sentence that begins with the path. */
int pp_profile_write_file(const char *path, const struct pp_profile *profile,
                          struct pp_error *error);

/* The way pp_profile_write_file() puts bytes in their place. */
int pp_file_put(const char *path, const struct pp_bytes *bytes, struct pp_error *error);

/* All of an open file; `limit` bounds it. Returns 0, -EFBIG, or -errno. */
int pp_file_get(int fd, size_t limit, struct pp_bytes *bytes);

#endif
