/* SPDX-License-Identifier: MIT
 *
 * static_program.c: asks, when the build is configured, whether host/real_static.c can be linked.
 */
#include "host/kind.h"
#include "host/real.h"

const pp_kind *const pp_kinds[] = {NULL};

int main(void)
{
    return pp_real_find("sigaction") == NULL;
}
