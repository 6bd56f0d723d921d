/* SPDX-License-Identifier: MIT
 *
 * word_values.c: numbers, words without a value, and the files of flags.
 *
 * Zone: NORMAL.
 * Tested by: unit.options, e2e.flags
 */
#include "output/word_values.h"

#include "base/parse_number.h"
#include "output/output.h"
#include "sys/log.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

bool pp_word_number(const char *value, int64_t *number)
{
    char *end = NULL;
    if (value == NULL || *value < '0' || *value > '9') {
        return false;
    }
    int saved_errno = errno;
    errno = 0;
    long long parsed = pp_strtoll(value, &end, 10);
    bool good = errno == 0 && *end == '\0';
    errno = saved_errno;
    *number = parsed;
    return good;
}

int pp_word_alone(const char *value, bool *asked)
{
    *asked |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

void pp_flag_fail(int *error, int new_error, const char *what, const char *subject)
{
    pp_log_error(what, subject, new_error, NULL);
    *error = *error != 0 ? *error : new_error;
}

bool pp_flag_file(const char *kind, const char *path, int *error)
{
    if (path == NULL || *path == '\0') {
        return false;
    }
    int path_error = pp_output_set_file(kind, path);
    if (path_error != 0) {
        pp_flag_fail(error, path_error, "no profile can be written to ", path);
    }
    return path_error == 0;
}
