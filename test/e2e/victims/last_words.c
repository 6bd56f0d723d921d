/* SPDX-License-Identifier: MIT
 *
 * last_words.c HOW: reads a byte, allocates 100 blocks of 1 MiB, and ends at once.
 *
 *   return   from main()        _exit    by _exit()         signal   by SIGTERM
 *   exec     executes `true`    crash    by SIGSEGV
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 100, BLOCK_BYTES = 1 << 20 };

static void *volatile kept[BLOCKS];

__attribute__((noinline)) static void say_last_words(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        kept[i] = malloc(BLOCK_BYTES);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    char byte = 0;

    if (read(STDIN_FILENO, &byte, 1) < 0) {
        return 1;
    }
    say_last_words();
    if (strcmp(how, "_exit") == 0) {
        _exit(0);
    }
    if (strcmp(how, "signal") == 0) {
        raise(SIGTERM);
    }
    if (strcmp(how, "exec") == 0) {
        execlp("true", "true", (char *)NULL);
    }
    if (strcmp(how, "crash") == 0) {
        raise(SIGSEGV);
    }
    return 0;
}
