/* SPDX-License-Identifier: MIT
 *
 * variant.c FILE: writes a profile of one stack, main -> outer -> middle (inlined) -> inner
 * (inlined), to the file. Built by test_lines_variants.sh in as many ways as debug information has.
 */
#include <pprof.h>

#include <fcntl.h>

#define INLINED static inline __attribute__((always_inline))

INLINED int inner(pprof_profile *things)
{
    return pprof_profile_add(things, things, 0);
}

INLINED int middle(pprof_profile *things)
{
    return inner(things) + 1;
}

__attribute__((noinline)) int outer(pprof_profile *things)
{
    return middle(things) + 2;
}

int main(int argc, char **argv)
{
    pprof_profile *things = pprof_new_profile("things");
    int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (outer(things) != 3 || fd < 0) {
        return 1;
    }
    return pprof_profile_write(things, pprof_writer_fd(fd), 0) == 0 ? 0 : 2;
}
