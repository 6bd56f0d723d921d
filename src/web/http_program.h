/* SPDX-License-Identifier: MIT
 *
 * http_program.h: what readers ask about the program: its command line, and names of addresses.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_PROGRAM_H
#define PP_WEB_HTTP_PROGRAM_H

#include "web/http_answer.h"

/* The arguments, with a NUL between two. */
void pp_http_command_line(pprof_http_answer *answer);

/* "num_symbols: 1", then "0xADDRESS name" for each address of the query "0xA+0xB", or of the body
 * of a POST, whose function is known. */
void pp_http_symbol(pprof_http_answer *answer);

#endif
