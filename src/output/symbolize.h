/* SPDX-License-Identifier: MIT
 *
 * symbolize.h: the option `symbolize`: how profiles name their addresses.
 *
 *   LIBPPROF, pprof_configure() --> pp_symbolize_set() --> pp_symbolize_wanted() --> writers
 *
 * A writer copies the value into the profile that it is about to encode (profile/model.h). So the
 * value counts at the moment of writing, not while the samples are recorded:
 *
 *   pprof_configure()            sets it for every profile that is written from then on
 *   pprof_parse_flags()          leaves it as it is
 *   pprof_start_cpu_profile()    does not read it; pprof_stop_cpu_profile() does
 *   pprof_profile_write()        reads it for profile.proto and texts; PPROF_DEBUG_BARE has none
 *   pprof_write_heap_profile(),  read it
 *   pprof_stack_text()
 *   pprof_mem_profile() and the other functions that give records, pprof_callers()
 *                                give addresses only, and do not read it
 *
 * The option `alloctrace` reads it when the trace begins; `lines` gives a trace the same as
 * `names`.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the option's value.
 */
#ifndef PP_OUTPUT_SYMBOLIZE_H
#define PP_OUTPUT_SYMBOLIZE_H

#include "profile/model.h"

/* The present value. It begins as PP_SYMBOLIZE_NAMES. Any thread. */
pp_symbolize pp_symbolize_wanted(void);

/* Changes the value. A caller that wants PP_SYMBOLIZE_LINES also makes the plugin the source of
 * lines (pp_line_plugin_begin()). Any thread. */
void pp_symbolize_set(pp_symbolize wanted);

#endif
