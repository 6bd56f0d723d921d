/* SPDX-License-Identifier: MIT
 *
 * alloctrace_names.h: begins the trace of allocations, with names of functions and modules.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_ALLOCTRACE_NAMES_H
#define PP_KINDS_HEAP_ALLOCTRACE_NAMES_H

/* Traces every allocation and free from now on, with names of functions unless the option
 * `symbolize` is `none`. */
void pp_alloctrace_begin(void);

#endif
