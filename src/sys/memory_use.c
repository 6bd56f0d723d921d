/* SPDX-License-Identifier: MIT
 *
 * memory_use.c: reads getrusage() and the file `status` of /proc.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.memory_stats
 */
#include "sys/memory_use.h"

#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/program.h"

#include <string.h>
#include <sys/resource.h>

enum {
    KIB = 1024,
    STATUS_BYTES = 4096,
    KEPT_PAGES = 64 /* TASK_RSS_EVENTS_THRESH */
};

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

static void read_status(void *of_text)
{
    char *text = of_text;
    int fd = pp_program_status_open();
    long got = fd >= 0 ? pp_file_read(fd, text, STATUS_BYTES - 1) : 0;
    if (fd >= 0) {
        pp_own_close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
}

/* Adds the sizes of the lines with these keys. 0 if any is missing. */
static uint64_t sum_of(const char *const *keys, size_t count)
{
    char text[STATUS_BYTES];
    uint64_t sum = 0;
    pp_apart(read_status, text);
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(text, keys[i]);
        if (at == NULL) {
            return 0;
        }
        sum += number_at(at + strlen(keys[i])) * KIB;
    }
    return sum;
}

uint64_t pp_memory_stack_bytes(void)
{
    static const char *const stack = "\nVmStk:";
    return sum_of(&stack, 1);
}

/* The kernel counts the code of all mappings, and shows that of the program apart (vm_stat_account()
 * in its mm/mmap.c, task_mem() in fs/proc/task_mmu.c). */
uint64_t pp_memory_code_bytes(void)
{
    static const char *const code[] = {"\nVmExe:", "\nVmLib:"};
    return sum_of(code, 2);
}

static uint64_t bytes_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? number_at(at + strlen(key)) * KIB : 0;
}

void pp_memory_ask(pp_memory_said *said)
{
    char text[STATUS_BYTES];
    pp_apart(read_status, text);
    *said =
        (pp_memory_said){.resident = bytes_of(text, "\nVmRSS:"),
                         .kept = bytes_of(text, "\nThreads:") / KIB * KEPT_PAGES * pp_page_bytes(),
                         .peak = bytes_of(text, "\nVmHWM:"),
                         .page_tables = bytes_of(text, "\nVmPTE:"),
                         .swapped = bytes_of(text, "\nVmSwap:"),
                         .huge = bytes_of(text, "\nHugetlbPages:")};
}
