/* SPDX-License-Identifier: MIT
 *
 * open_descriptors.h: lists the open descriptors of the process.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_OPEN_DESCRIPTORS_H
#define PP_SYS_OPEN_DESCRIPTORS_H

/* Calls `visit` for each open descriptor except those of own_files.h and of the recorder's socket.
 * Without /proc: for each below 65536. */
typedef void pp_descriptor_visit(int fd, void *context);
void pp_open_descriptors_each(pp_descriptor_visit *visit, void *context);

#endif
