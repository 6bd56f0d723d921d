/* SPDX-License-Identifier: MIT
 *
 * plain.c FILE: writes a profile of two stacks in a function, main -> work, to the file.
 * Built by test_readers.sh.
 */
#include <pprof.h>

#include <fcntl.h>

__attribute__((noinline)) int work(pprof_profile *things)
{
    int error = pprof_profile_add(things, things, 0);
    error |= pprof_profile_add(things, &error, 0);
    return error;
}

int main(int argc, char **argv)
{
    pprof_profile *things = pprof_new_profile("things");
    int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (work(things) != 0 || fd < 0) {
        return 1;
    }
    return pprof_profile_write(things, pprof_writer_fd(fd), 0) == 0 ? 0 : 2;
}
