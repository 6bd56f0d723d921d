/* SPDX-License-Identifier: MIT
 *
 * plugin.c: a library that victims/attached.c loads: its functions allocate.
 */
#include <stdlib.h>

enum { MOST = 100000 };

static void *kept[MOST];
static long count;

long plugin_keep(long wanted);
long plugin_drop(long unused);

__attribute__((noinline)) static void keep_in_plugin(void)
{
    kept[count++] = malloc(1000);
}

long plugin_keep(long wanted)
{
    while (wanted-- > 0 && count < MOST) {
        keep_in_plugin();
    }
    return count;
}

long plugin_drop(long unused)
{
    (void)unused;
    while (count > 0) {
        free(kept[--count]);
    }
    return 0;
}
