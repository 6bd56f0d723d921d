/* SPDX-License-Identifier: MIT
 *
 * fuzz_control_line.c: any bytes as a line for the control socket.
 *
 * Sources: http/line.c
 * Seeds: lines of docs/CONTROL.md.
 */
#include "../../http/line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A line that is read is a text without control characters, which ends where the bytes had their first LF. */
static void check(const char *line, const uint8_t *before, size_t size, size_t length)
{
    const uint8_t *end = memchr(before, '\n', size);
    size_t text = strlen(line);
    if (end == NULL || length != (size_t)(end - before) + 1 || length > LINE_MAX_BYTES)
        abort();
    if (text >= length || memcmp(line, before, text) != 0 ||
        before[text] != (text + 1 == length ? '\n' : '\r'))
        abort();
    for (size_t i = 0; i < text; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == '\x7f')
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size); /* exactly as long */
    if (size > 0)
        memcpy(bytes, data, size);
    long length = line_read(bytes, size);
    if (length > 0)
        check(bytes, data, size, (size_t)length);
    if (length <= 0 && memcmp(bytes, data, size) != 0)
        abort();
    if (length == 0 && (size >= LINE_MAX_BYTES || memchr(data, '\n', size) != NULL))
        abort();
    if (length < 0 && length != -400 && length != -414)
        abort();
    free(bytes);
    return 0;
}
