/* SPDX-License-Identifier: MIT
 *
 * no_collectors.c: in the place of collectors.c, in a cpprof without the sender (push/CMakeLists.txt).
 *
 * Tested by: e2e.cpprof_agent.
 */
#include "agent/collectors.h"

#include "base/message.h"

cp_collectors *cp_collectors_begin(cp_loop *loop, cp_processes *processes,
                                   const cp_collect_options *options, cp_error *error)
{
    (void)loop;
    (void)processes;
    (void)options;
    cp_fail(error, "--push: this cpprof was built without protobuf-c, and cannot push");
    return NULL;
}

void cp_collectors_end(cp_collectors *all)
{
    (void)all;
}
