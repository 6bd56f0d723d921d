/* SPDX-License-Identifier: MIT
 *
 * page_sources.c: see page_sources.h.
 *
 * Owns: one file's text at a time.
 * Tested by: page.logic
 */
#include "page/page_sources.h"

#include "base/pool.h"
#include "import/profile_file.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "profile/source_age.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES  ((size_t)2 << 20)
#define MAX_TOTAL_BYTES ((size_t)32 << 20)

static void put_string(cp_bytes *out, const char *text, size_t length)
{
    cp_bytes_append(out, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (byte >= ' ' && byte != '"' && byte != '\\' && byte != '<') {
            cp_bytes_append(out, &byte, 1);
        } else {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            cp_bytes_append(out, escaped, 6);
        }
    }
    cp_bytes_append(out, "\"", 1);
}

static int read_text(const char *path, cp_bytes *text, struct stat *info)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) {
        return -1;
    }
    int status =
        fstat(fd, info) == 0 && S_ISREG(info->st_mode) ? cp_file_get(fd, MAX_FILE_BYTES, text) : -1;
    close(fd);
    return status == 0 && !memchr(text->data, '\0', text->length) ? 0 : -1;
}

/* Appends a member if the file is there. *before is what separates it from the one before. */
static void put_file(cp_bytes *out, cp_source_ages *ages, cp_string file, const char **before)
{
    const char *path = cp_profile_text(ages->profile, file);
    cp_bytes text = {0};
    struct stat info;

    if (read_text(path, &text, &info) == 0 && out->length + text.length <= MAX_TOTAL_BYTES) {
        cp_bytes_append(out, *before, strlen(*before));
        put_string(out, path, strlen(path));
        cp_bytes_append(out, ":", 1);
        put_string(out, (const char *)text.data, text.length);
        *before = ",\n";
        cp_source_ages_check(ages, file, &info);
    }
    cp_bytes_release(&text);
}

/* The file of a line; 0 if there is none. */
static cp_string file_of(const cp_profile *profile, const cp_line *line)
{
    return line->line > 0 ? profile->functions[line->function].filename : 0;
}

static void note_location(cp_source_ages *ages, const cp_location *location)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        cp_source_ages_note(ages, file_of(ages->profile, &location->lines[i]), location->mapping);
    }
}

static void put_location(cp_source_ages *ages, const cp_location *location, bool *seen,
                         cp_bytes *out, const char **before)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        cp_string file = file_of(ages->profile, &location->lines[i]);

        if (file && !seen[file]) {
            seen[file] = true;
            put_file(out, ages, file, before);
        }
    }
}

void cp_page_put_sources(const cp_profile *profile, cp_bytes *out)
{
    bool *seen = cp_heap_alloc(profile->strings.count, sizeof *seen);
    const char *before = "{";
    cp_bytes object = {0};
    cp_source_ages ages;

    cp_source_ages_init(&ages, profile);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        note_location(&ages, &profile->locations[i]);
    }
    for (uint32_t i = 0; i < profile->location_count; i++) {
        put_location(&ages, &profile->locations[i], seen, &object, &before);
    }
    cp_source_ages_release(&ages);
    if (!object.length) {
        cp_bytes_append(&object, "{", 1);
    }
    cp_bytes_append(&object, "}", 1);
    cp_bytes_append(out, object.data, object.length);
    cp_bytes_release(&object);
    free(seen);
}
