/* SPDX-License-Identifier: MIT
 *
 * named.c: a library with a function of every kind that a symbol table can tell apart. Built with either
 * kind of hash table, and with a table of no name. test_loaded_symbols.c says what has to be found.
 */
#include <unistd.h>

pid_t needs_getppid(void);
pid_t needs_getppid(void)
{
    return getppid();
}

#ifndef DEFINES_NOTHING

int plain(void);
int plain(void)
{
    return 1;
}

int weak(void);
__attribute__((weak)) int weak(void)
{
    return 2;
}

int hidden(void);
__attribute__((visibility("hidden"))) int hidden(void)
{
    return 3;
}

int protected(void);
__attribute__((visibility("protected"))) int protected(void)
{
    return 4;
}

int versioned_first(void);
int versioned_first(void)
{
    return 5;
}

int versioned_second(void);
int versioned_second(void)
{
    return 6;
}

int withdrawn_first(void);
int withdrawn_first(void)
{
    return 7;
}

__asm__(".symver versioned_first, versioned@FIRST");
__asm__(".symver versioned_second, versioned@@SECOND");
__asm__(".symver withdrawn_first, withdrawn@FIRST");

static int choice(void)
{
    return 8;
}

static int (*choose(void))(void)
{
    return choice;
}

int chosen(void);
int chosen(void) __attribute__((ifunc("choose")));

int data = 9;
extern int elsewhere(void) __attribute__((weak));

int uses_elsewhere(void);
int uses_elsewhere(void)
{
    return elsewhere != 0 ? elsewhere() : hidden();
}

#endif
