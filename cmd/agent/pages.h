/* SPDX-License-Identifier: MIT
 *
 * pages.h: what the agent answers by itself: the list of processes, for people and for collectors.
 */
#ifndef CP_AGENT_PAGES_H
#define CP_AGENT_PAGES_H

#include "agent/processes.h"

#include <stddef.h>

/* Each returns a text, to be freed, and stores its length. */

/* HTML: a row for each process. */
char *cp_pages_index(const cp_processes *processes, size_t *length);

/* HTML: a row for each profile of a process, whose own page `own` is: only the names of profiles are taken from there. */
char *cp_pages_process(const cp_host_process *process, const char *own, size_t own_length,
                       size_t *length);

/* JSON as Prometheus' http_sd_config reads it: a target for each process. `address`: the agent's own, HOST:PORT. */
char *cp_pages_targets(const cp_processes *processes, const char *address, size_t *length);

#endif
