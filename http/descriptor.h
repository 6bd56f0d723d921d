/* SPDX-License-Identifier: MIT
 *
 * descriptor.h: a descriptor of the server's, in a program that may close it, or close all that it
 * finds, and then open its own file by the same number.
 */
#ifndef PP_HTTP_DESCRIPTOR_H
#define PP_HTTP_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct descriptor {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
} descriptor;

#define DESCRIPTOR_NONE ((descriptor){.fd = -1})

/* Keeps `fd`, under a higher number: programs expect the low ones for themselves. */
void descriptor_keep(descriptor *d, int fd);

/* Whether the number is still the file that was kept. To be asked before each use. */
bool descriptor_is_there(const descriptor *d);

/* Closes it, if it is there. */
void descriptor_close(descriptor *d);

#endif
