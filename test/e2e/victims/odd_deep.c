/* SPDX-License-Identifier: MIT
 *
 * odd_deep.c: works 300 frames deep in code that has frame pointers and no unwind information, as
 * Go's and that of many compilers of generated code: each step of a walk reads the program's text,
 * and may be slow. A sampler whose handler takes longer than its period leaves such a program no
 * time.
 *
 * Flags: -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
 */
static volatile unsigned long sink;

static int deeper(int depth)
{
    if (depth == 0) {
        for (unsigned long i = 0; i < 60000000; i++) {
            sink += i;
        }
        return 1;
    }
    return deeper(depth - 1) + 1;
}

int main(void)
{
    return deeper(300) == 301 ? 42 : 1;
}
