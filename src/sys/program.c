/* SPDX-License-Identifier: MIT
 *
 * program.c: reads /proc/self, or else /proc/thread-self.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.first_thread_ends
 */
#include "sys/program.h"

#include "sys/file_calls.h"
#include "sys/own_files.h"

#include <fcntl.h>

const char *pp_program_file(void)
{
    static const char of_first[] = "/proc/self/exe";
    char beginning[1];
    return pp_link_read(of_first, beginning, sizeof beginning) > 0 ? of_first
                                                                   : "/proc/thread-self/exe";
}

int pp_program_status_open(void)
{
    int fd = pp_own_open("/proc/thread-self/status", O_RDONLY, 0);
    return fd >= 0 ? fd : pp_own_open("/proc/self/status", O_RDONLY, 0);
}
