/* SPDX-License-Identifier: MIT
 *
 * versioned.c: asks for the versions of functions that libraries built today and ten years ago ask
 * for, whichever the linker would choose. All of them must come to our hooks.
 *
 * Libc: glibc 2.34
 */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>

/* The version of what glibc has had from the architecture's beginning. */
#if defined(__x86_64__)
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#endif

void *versioned_entry(void *unused)
{
    burn_ms(100);
    return unused;
}

extern int create_now(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern int create_then(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
__asm__(".symver create_now, pthread_create@GLIBC_2.34");
__asm__(".symver create_then, pthread_create@" FIRST_GLIBC);

int main(void)
{
    pthread_t now;
    pthread_t then;
    if (create_now(&now, NULL, versioned_entry, NULL) != 0 ||
        create_then(&then, NULL, versioned_entry, NULL) != 0) {
        return 1;
    }
    pthread_join(now, NULL);
    pthread_join(then, NULL);
    return 0;
}
