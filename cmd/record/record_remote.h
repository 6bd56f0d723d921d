/* SPDX-License-Identifier: MIT
 *
 * record_remote.h: `cpprof record` of a process that runs already, and has a way to ask it: a control
 * socket, or a server with /debug/pprof/.
 */
#ifndef CP_RECORD_REMOTE_H
#define CP_RECORD_REMOTE_H

#include "record/record_session.h"

/*
 * Asks for a profile of each kind, all at the same time, writes them, and prints what was found.
 *
 *   cpu, wall                            of the next options->duration_ms (0: 10 seconds)
 *   block, mutex, lifetime, KIND:RATE    what changes in that time
 *   other kinds                          as they are at its end
 *
 * If the user has named no time, and nothing is of a time, nor has to be turned on first, the end is
 * now.
 *
 * `source` is pid:PID, http://HOST:PORT, https:// or unix:/SOCKET, maybe with the path
 * /debug/pprof/. Returns an exit status.
 */
int cp_record_remote(const char *source, const cp_record_options *options);

#endif
