/* SPDX-License-Identifier: MIT
 *
 * process_option.c: see process_option.h.
 *
 * Tested by: e2e.cpprof_dump, e2e.cpprof_doctor
 */
#include "verbs/process_option.h"

#include "base/message.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

int cp_process_parse(const char *text, int *pid, cp_error *error)
{
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);

    if (errno != 0 || end == text || *end != '\0' || number < 1 || number > INT_MAX) {
        return cp_fail(error, "-p %s: expected the number of a process", text);
    }
    *pid = (int)number;
    return 0;
}
