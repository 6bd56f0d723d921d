/* SPDX-License-Identifier: MIT
 *
 * profile_file.h: reading profiles from files, and writing them.
 *
 * The first bytes of a file show its format: gzip (one member or more), plain profile.proto, the
 * CPU format of gperftools, or one of the formats of text. Both the bytes that are read and the
 * bytes after decompression are limited, so that no file makes the command allocate without bound.
 */
#ifndef CP_PROFILE_FILE_H
#define CP_PROFILE_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cp_bytes cp_bytes;
typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* More than any profile that a person can look at; less than what makes a laptop swap for long. */
#define CP_PROFILE_MAX_BYTES ((size_t)2 << 30)

/* Reads a profile; the path "-" is standard input, and a path may be the address of a server
 * (fetch.h) or a process (control.h). Returns 0 and a profile to be freed with
 * cp_profile_free(), or -1 with a sentence that begins with the path. */
int cp_profile_read_file(const char *path, cp_profile **out, cp_error *error);

/* Appends what a server or a process answers, as it comes. Returns 0, or -1 with a sentence that
 * begins with the source. Thread-safe. */
int cp_source_fetch(const char *source, cp_bytes *bytes, cp_error *error);

/* cp_profile_read_bytes() does the same with bytes in memory, and decompresses at most to `limit`
 * bytes. Its sentence begins with "byte OFFSET: ". */
int cp_profile_read_bytes(const uint8_t *data, size_t length, size_t limit, cp_profile **out,
                          cp_error *error);

/* Writes the profile, gzipped, to `path`, whole or not at all (out_file.h). Returns 0, or -1 with a
 * sentence that begins with the path. */
int cp_profile_write_file(const char *path, const cp_profile *profile, cp_error *error);

/* Writes bytes to `path` as cp_profile_write_file() does. */
int cp_file_put(const char *path, const cp_bytes *bytes, cp_error *error);

/* Reads an open file to its end. Returns 0, -EFBIG if it has more than `limit` bytes, or -errno. */
int cp_file_get(int fd, size_t limit, cp_bytes *bytes);

#endif
