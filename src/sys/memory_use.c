/* SPDX-License-Identifier: MIT
 *
 * memory_use.c: reads getrusage() and the file `status` of /proc.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.memory_stats
 */
#include "sys/memory_use.h"

#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/program.h"

#include <string.h>
#include <sys/resource.h>

enum { KIB = 1024, STATUS_BYTES = 4096 };

uint64_t pp_memory_peak_rss_bytes(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? (uint64_t)use.ru_maxrss * KIB : 0;
}

static uint64_t number_at(const char *at)
{
    uint64_t number = 0;
    at += strspn(at, " \t");
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
    }
    return number;
}

uint64_t pp_memory_stack_bytes(void)
{
    static const char key[] = "\nVmStk:";
    char text[STATUS_BYTES];
    int fd = pp_program_status_open();
    if (fd < 0) {
        return 0;
    }
    long got = pp_file_read(fd, text, sizeof text - 1);
    pp_own_close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *at = strstr(text, key);
    return at != NULL ? number_at(at + sizeof key - 1) * KIB : 0;
}
