/* SPDX-License-Identifier: MIT
 *
 * heap_control.c: starts the heap profile, and writes it: snapshot, encoder, file.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: that of end_file.h.
 * Owns: which files are to be written.
 * Tested by: e2e.heap, e2e.heap_linked, e2e.seccomp
 */
#include "kinds/heap/heap_control.h"

#include "encode/proto.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_cycles.h"
#include "kinds/heap/heap_mappings.h"
#include "kinds/heap/heap_peak.h"
#include "output/end_file.h"
#include "output/symbolize.h"

#include <errno.h>

void pp_heap_control_default(bool on)
{
    pp_heap_set_rate(on ? PP_HEAP_RATE_DEFAULT : 0);
}

bool pp_heap_control_is_on(void)
{
    return pp_heap_rate() != 0;
}

int pp_heap_control_write(pp_heap_view view, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = pp_heap_profile_build(view, &arena, &profile);
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}

static int write_inuse(pprof_writer writer)
{
    return pp_heap_control_write(PP_HEAP_INUSE, writer);
}

static int write_peak(pprof_writer writer)
{
    return pp_heap_control_write(PP_HEAP_PEAK, writer);
}

static int write_allocs(pprof_writer writer)
{
    return pp_heap_control_write(PP_HEAP_ALLOCS, writer);
}

enum { HEAP, ALLOCS, PEAK, FILES };
static pp_end_file files[FILES] = {{"heap", write_inuse, false, NULL},
                                   {"allocs", write_allocs, false, NULL},
                                   {"peak", write_peak, false, NULL}};

int pp_heap_control_start(const pp_heap_request *request)
{
    files[request->allocs ? ALLOCS : HEAP].wanted = true;
    files[PEAK].wanted = request->peak;
    if (request->peak) {
        pp_heap_peak_start();
    }
    pp_heap_set_rate(request->rate);
    return 0;
}

void pp_heap_control_end(bool fatal)
{
    pp_end_files_write(files, FILES, fatal);
}

void pp_heap_control_write_so_far(void)
{
    pp_end_files_write_so_far(files, FILES);
}

bool pp_heap_control_wants_file(void)
{
    return files[HEAP].wanted || files[ALLOCS].wanted;
}

bool pp_heap_control_confine(void)
{
    bool wanted = pp_heap_control_wants_file();
    pp_heap_control_end(false);
    pp_heap_set_rate(0);
    return wanted;
}

void pp_heap_control_after_fork(bool keep_file)
{
    pp_heap_cycles_after_fork_in_child();
    pp_heap_mappings_after_fork_in_child();
    pp_heap_after_fork_in_child();
    for (unsigned i = 0; i < FILES; i++) {
        files[i].wanted = files[i].wanted && keep_file;
    }
}
