/* SPDX-License-Identifier: MIT
 *
 * here.c: what the shared parts ask of their own process, where that is the command: its messages,
 * and whether a signal handler runs.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "sys/log.h"
#include "unwind/in_handler.h"

#include <stdio.h>

void pp_log(const pp_text *text)
{
    fprintf(stderr, "cpprof: %s\n", text->data);
}

bool pp_in_handler(void)
{
    return false;
}
