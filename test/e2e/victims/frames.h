/* SPDX-License-Identifier: MIT
 *
 * frames.h: a chain of callers without frame pointers, for victims that differ in where their
 * call-frame information is.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include "burn.h"

#ifndef FRAMES_END
#define FRAMES_END() /* what stands before the return */
#endif

static double used;

void frames_leaf(void)
{
    used = burn_ms(200);
}

void frames_middle(int depth)
{
    if (depth > 0) {
        frames_middle(depth - 1);
    } else {
        frames_leaf();
    }
    burn_sink++;
    FRAMES_END();
}

int main(void)
{
    frames_middle(3);
    report("main", used);
    return 0;
}

#endif
