/* SPDX-License-Identifier: MIT
 *
 * walkers_libunwind_absent.c: in place of walkers_libunwind.c where libunwind is not installed.
 */
#include "walkers.h"

const walker libunwind_walkers[] = {{NULL, NULL, NULL, 0}};
