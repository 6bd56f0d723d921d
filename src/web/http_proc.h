/* SPDX-License-Identifier: MIT
 *
 * http_proc.h: files of /proc, as the server needs them.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_PROC_H
#define PP_WEB_HTTP_PROC_H

#include "base/buffer.h"

#include <stdbool.h>

/* Appends the whole file. 0 or -errno. */
int pp_http_read_file(const char *path, pp_buffer *content);

/* Whether the process that started this one was itself started with LIBPPROF as it is here. */
bool pp_http_parent_has_options(void);

#endif
