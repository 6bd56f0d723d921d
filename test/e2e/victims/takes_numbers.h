/* SPDX-License-Identifier: MIT
 *
 * takes_numbers.h: closes all descriptors again and again, and takes their numbers for a file of the
 * program. If no other thread of the program opens anything, each new descriptor has to have the
 * lowest free number, and the file only what the program wrote.
 */
#ifndef TAKES_NUMBERS_H
#define TAKES_NUMBERS_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range /* the kernel has it since 5.9 */
#define SYS_close_range 436
#endif

enum { FIRST_NUMBER = 3, LIMIT_NUMBER = 40, LOOKS = 50 };

static const char own_content[] = "the program's own\n";

typedef struct taken {
    long rounds;
    unsigned last; /* numbers above this one stay as they are; 0: none does */
    long closed;   /* descriptors that the program did not close */
    long not_low;  /* new descriptors that did not have the lowest number */
    long changed;  /* times at which the file had another content */
} taken;

static int make_own_file(const char *path)
{
    FILE *file = fopen(path, "w");
    return file != NULL && fputs(own_content, file) >= 0 && fclose(file) == 0 ? 0 : -1;
}

static void open_as(taken *t, const char *path, int expected)
{
    int fd = open(path, O_RDWR);
    t->not_low += fd != expected;
    if (fd >= 0 && fd != expected) {
        dup2(fd, expected);
        close(fd);
    }
}

static void look_at_numbers(taken *t, const struct stat *own)
{
    struct stat present;
    for (int number = FIRST_NUMBER; number < LIMIT_NUMBER; number++) {
        if (fstat(number, &present) != 0 || present.st_ino != own->st_ino ||
            present.st_dev != own->st_dev) {
            t->closed++;
            dup2(FIRST_NUMBER, number);
        }
    }
}

/* With nothing open for some time, then with a file under many numbers for some time. */
static void take_numbers(taken *t, const char *path)
{
    struct stat own;
    char found[sizeof own_content + 1];
    syscall(SYS_close_range, FIRST_NUMBER, t->last != 0 ? t->last : UINT_MAX, 0);
    usleep((useconds_t)(t->rounds % 8 * 250));
    open_as(t, path, FIRST_NUMBER);
    fstat(FIRST_NUMBER, &own);
    for (int number = FIRST_NUMBER + 1; number < LIMIT_NUMBER; number++) {
        dup2(FIRST_NUMBER, number);
    }
    for (int look = 0; look < LOOKS; look++) {
        look_at_numbers(t, &own);
    }
    ssize_t length = pread(FIRST_NUMBER, found, sizeof found, 0);
    t->changed +=
        length != sizeof own_content - 1 || memcmp(found, own_content, (size_t)length) != 0;
    close(0);
    open_as(t, "/dev/null", 0);
    t->rounds++;
}

/* Returns the program's status. */
static int tell_taken(const taken *t)
{
    printf("%ld closed, %ld not the lowest, %ld changed\n", t->closed, t->not_low, t->changed);
    return t->closed + t->not_low + t->changed != 0;
}

#endif
