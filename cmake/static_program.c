/* SPDX-License-Identifier: MIT
 *
 * static_program.c: asks, when the build is configured, whether hook/real_static.c can be linked.
 */
#include "hook/real.h"

void pp_preload_link(void)
{
}

int main(void)
{
    return pp_real_find("sigaction") == NULL;
}
