/* SPDX-License-Identifier: MIT
 *
 * static_program.c: asks, when the build is configured, whether host/real_static.c can be linked.
 */
#include "host/real.h"

void pp_preload_link(void)
{
}

int main(void)
{
    return pp_real_find("sigaction") == NULL;
}
