/* SPDX-License-Identifier: MIT
 *
 * record_stat.c: see record_stat.h.
 *
 * Tested by: e2e.cpprof_record, e2e.cpprof_record_tree.
 */
#include "record/record_stat.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *cp_stat_read(pid_t pid, char line[CP_STAT_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return NULL;
    }
    bool read = fgets(line, CP_STAT_BYTES, file) != NULL;
    fclose(file);
    char *name_end = read ? strrchr(line, ')') : NULL;
    return name_end ? name_end + 1 : NULL;
}
