/* SPDX-License-Identifier: MIT
 *
 * error_text_glibc.c: see the header.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.options
 */
#include "sys/error_text.h"

#include <stddef.h>
#include <string.h>

const char *pp_error_text(int error)
{
    const char *text = strerrordesc_np(error < 0 ? -error : error);
    return text != NULL ? text : "unknown error";
}
