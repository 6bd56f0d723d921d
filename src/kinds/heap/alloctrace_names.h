/* SPDX-License-Identifier: MIT
 *
 * alloctrace_names.h: the option alloctrace: begins the trace, and names the code in it.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_ALLOCTRACE_NAMES_H
#define PP_KINDS_HEAP_ALLOCTRACE_NAMES_H

/* Traces every allocation and free from now on; with function names unless the
 * option `symbolize` is `none`. */
void pp_alloctrace_begin(void);

#endif
