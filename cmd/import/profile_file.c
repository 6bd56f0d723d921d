/* SPDX-License-Identifier: MIT
 *
 * profile_file.c: see profile_file.h.
 *
 * Owns: nothing after a call.
 * Tested by: unit.cmd_decode, e2e.cpprof_top.
 */
#include "import/profile_file.h"

#include "ask/control.h"
#include "ask/fetch.h"
#include "base/message.h"
#include "base/out_file.h"
#include "import/formats.h"
#include "import/gunzip.h"
#include "profile/profile_decode.h"
#include "profile/profile_encode.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP ((size_t)1 << 18)

/* ---- bytes ---- */

int cp_file_get(int fd, size_t limit, cp_bytes *bytes)
{
    for (;;) {
        if (bytes->capacity - bytes->length < READ_STEP) {
            size_t capacity = bytes->capacity ? bytes->capacity * 2 : 2 * READ_STEP;
            bytes->data = cp_heap_resize(bytes->data, capacity, 1);
            bytes->capacity = capacity;
        }
        ssize_t got = read(fd, bytes->data + bytes->length, READ_STEP);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -errno;
        }
        if (got == 0) {
            return 0;
        }
        bytes->length += (size_t)got;
        if (bytes->length > limit) {
            return -EFBIG;
        }
    }
}

int cp_file_put(const char *path, const cp_bytes *bytes, cp_error *error)
{
    cp_out_file out;

    if (cp_out_open(&out, path, error) < 0) {
        return -1;
    }
    cp_out_write(&out, bytes->data, bytes->length);
    return cp_out_close(&out, error);
}

/* ---- formats ---- */

#define JAVA "Java (`go tool pprof -proto` makes a profile.proto of it)"

/* Names the format that the first bytes look like, for a user who gave the wrong file. */
static const char *describe(const uint8_t *data, size_t length)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *name;
    } known[] = {
        {"\x7f"
         "ELF",
         4, "an ELF program or library (give the profile, not the program)"},
        {"PERFILE2", 8, "a perf.data file (give what `perf script` prints of it)"},
        {"\x28\xb5\x2f\xfd", 4, "zstd data"},
        {"\xfd"
         "7zXZ",
         5, "xz data"},
        {"BZh", 3, "bzip2 data"},
        {"PK\x03\x04", 4, "a zip archive"},
        {"--- heapz 1 ---", 15, "a heap profile of " JAVA},
        {"\0\0\0\0\3\0\0\0\1\0\0", 12, "a CPU profile of " JAVA}, /* in words of 4 bytes */
        {"\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0", 24, "a CPU profile of " JAVA},
    };
    size_t shown = length < 64 ? length : 64;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (length >= known[i].length && memcmp(data, known[i].magic, known[i].length) == 0) {
            return known[i].name;
        }
    }
    for (size_t i = 0; i < shown; i++) {
        if (!isprint(data[i]) && !isspace(data[i])) {
            return NULL;
        }
    }
    return "text";
}

/* Reads any format but profile.proto. Returns 1 if the data may be that. */
static int read_older(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    static const cp_format *const texts[] = {&cp_legacy_text, &cp_perf_script, &cp_folded, NULL};

    if (length == 0) {
        return cp_fail(error, "byte 0: expected a profile, found an empty file");
    }
    for (const cp_format *const *format = texts; *format; format++) {
        if ((*format)->recognize(data, length)) {
            return (*format)->decode(data, length, out, error);
        }
    }
    const char *kind = describe(data, length);
    if (kind && strcmp(kind, "text") == 0) {
        return cp_folded_refuse(data, length, error);
    }
    if (kind) {
        return cp_fail(
            error, "byte 0: expected a profile (profile.proto, gzipped or plain), found %s", kind);
    }
    if (cp_gperftools.recognize(data, length)) {
        return cp_gperftools.decode(data, length, out, error);
    }
    return 1;
}

/* Reads bytes that are not needed afterwards, and releases them. */
static int read_once(cp_bytes *bytes, cp_profile **out, cp_error *error)
{
    int status = read_older(bytes->data, bytes->length, out, error);

    if (status == 1) {
        status = cp_profile_decode_once(bytes->data, bytes->length, out, error);
    }
    cp_bytes_release(bytes);
    return status;
}

static int read_expanded(cp_bytes *expanded, cp_profile **out, cp_error *error)
{
    cp_error inner;

    if (read_once(expanded, out, &inner) < 0) {
        return cp_fail(error, "%.900s (bytes are counted after decompression)", inner.text);
    }
    return 0;
}

int cp_profile_read_bytes(const uint8_t *data, size_t length, size_t limit, cp_profile **out,
                          cp_error *error)
{
    cp_bytes expanded = {0};

    if (cp_gzip_is(data, length)) {
        if (cp_gzip_expand(data, length, limit, &expanded, error) == 0) {
            return read_expanded(&expanded, out, error);
        }
        cp_bytes_release(&expanded);
        return -1;
    }
    int status = read_older(data, length, out, error);
    return status == 1 ? cp_profile_decode(data, length, out, error) : status;
}

/* Does the same, and frees the bytes as soon as it can: a large profile would need them twice. */
static int read_and_release(cp_bytes *bytes, cp_profile **out, cp_error *error)
{
    cp_bytes expanded = {0};

    if (!cp_gzip_is(bytes->data, bytes->length)) {
        return read_once(bytes, out, error);
    }
    int status = cp_gzip_expand(bytes->data, bytes->length, CP_PROFILE_MAX_BYTES, &expanded, error);
    cp_bytes_release(bytes);
    if (status < 0) {
        cp_bytes_release(&expanded);
        return -1;
    }
    return read_expanded(&expanded, out, error);
}

/* ---- files ---- */

/* Reads the bytes of a source, and releases them. */
static int read_source(const char *source, cp_bytes *bytes, cp_profile **out, cp_error *error)
{
    cp_error inner;

    if (read_and_release(bytes, out, &inner) < 0) {
        return cp_fail(error, "%.500s: %s", source, inner.text);
    }
    return 0;
}

static int read_open_file(const char *path, int fd, cp_profile **out, cp_error *error)
{
    cp_bytes bytes = {0};

    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        return cp_fail(error, "%s: expected a profile, found a directory; name a file in it", path);
    }
    int status = cp_file_get(fd, CP_PROFILE_MAX_BYTES, &bytes);
    if (status == -EFBIG) {
        cp_fail(error,
                "%s: byte %zu: expected the end of a profile, found more; files above 2 GiB "
                "are not read",
                path, CP_PROFILE_MAX_BYTES);
    } else if (status < 0) {
        cp_fail(error, "%s: cannot read: %s", path, strerror(-status));
    } else {
        return read_source(path, &bytes, out, error);
    }
    cp_bytes_release(&bytes);
    return status < 0 ? -1 : 0;
}

int cp_source_fetch(const char *source, cp_bytes *bytes, cp_error *error)
{
    return cp_fetch_is_url(source) ? cp_fetch(source, CP_PROFILE_MAX_BYTES, bytes, error)
                                   : cp_control_fetch(source, CP_PROFILE_MAX_BYTES, bytes, error);
}

/* Reads what a server or a process sends. */
static int read_sent(const char *source, cp_profile **out, cp_error *error)
{
    cp_bytes bytes = {0};

    if (cp_source_fetch(source, &bytes, error) < 0) {
        cp_bytes_release(&bytes);
        return -1;
    }
    return read_source(source, &bytes, out, error);
}

int cp_profile_read_file(const char *path, cp_profile **out, cp_error *error)
{
    if (cp_fetch_is_url(path) || cp_control_is_process(path)) {
        return read_sent(path, out, error);
    }
    if (strcmp(path, "-") == 0) {
        return read_open_file("standard input", STDIN_FILENO, out, error);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return cp_fail(error, "%s: cannot open: %s", path, strerror(errno));
    }
    int status = read_open_file(path, fd, out, error);
    close(fd);
    return status;
}

int cp_profile_write_file(const char *path, const cp_profile *profile, cp_error *error)
{
    pp_buffer plain = PP_BUFFER_INIT;
    cp_bytes packed = {0};

    cp_profile_encode(profile, &plain);
    cp_gzip_compress(plain.data, plain.size, &packed);
    int status = cp_file_put(path, &packed, error);
    pp_buffer_release(&plain);
    cp_bytes_release(&packed);
    return status;
}
