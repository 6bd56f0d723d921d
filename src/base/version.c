/* SPDX-License-Identifier: MIT
 *
 * version.c: the version of libpprof, as pprof.h gives it.
 *
 * Zone: NORMAL.
 * Tested by: e2e.api
 */
#include "pprof.h"

#define VERSION_MAJOR 0
#define VERSION_MINOR 1
#define VERSION_PATCH 0

#define TEXT_OF(x)   #x
#define STRING_OF(x) TEXT_OF(x)

unsigned pprof_version_number(void)
{
    return VERSION_MAJOR * 10000 + VERSION_MINOR * 100 + VERSION_PATCH;
}

const char *pprof_version_string(void)
{
    return STRING_OF(VERSION_MAJOR) "." STRING_OF(VERSION_MINOR) "." STRING_OF(VERSION_PATCH);
}
