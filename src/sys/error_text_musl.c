/* SPDX-License-Identifier: MIT
 *
 * error_text_musl.c: musl's strerror reads a constant table, and the translation of the thread's locale.
 * It allocates nothing.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.musl
 */
#include "sys/error_text.h"

#include <string.h>

const char *pp_error_text(int error)
{
    return strerror(error < 0 ? -error : error);
}
