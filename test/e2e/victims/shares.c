/* SPDX-License-Identifier: MIT
 *
 * shares.c: two functions that take turns, in proportion 60 to 40, one that sleeps, one that is
 * never called, and a system call that takes CPU time inside the kernel.
 */
#include "burn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

double hog_sixty(void)
{
    return burn_ms(270);
}

static double hog_forty(void)
{
    return burn_ms(180);
}

void sleeper(void)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

double never_called(void)
{
    return burn_ms(1000);
}

double hog_kernel(int fd, char *buffer, size_t size)
{
    struct burn b = burn_for(270);
    while (burn_on(&b)) {
        if (read(fd, buffer, size) <= 0) {
            abort();
        }
    }
    return burn_used(&b);
}

int main(int argc, char **argv)
{
    (void)argv;
    enum { BUFFER = 1 << 20 };
    char *buffer = malloc(BUFFER);
    int fd = open("/dev/zero", O_RDONLY);
    double sixty = 0;
    double forty = 0;
    double kernel = 0;
    for (int i = 0; i < 2; i++) {
        sixty += hog_sixty();
        forty += hog_forty();
        kernel += hog_kernel(fd, buffer, BUFFER);
        sleeper();
    }
    if (argc > 100) {
        never_called();
    }
    report("hog_sixty", sixty);
    report("hog_forty", forty);
    report("hog_kernel", kernel);
    report("process", process_ms());
    return 0;
}
