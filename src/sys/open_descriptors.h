/* SPDX-License-Identifier: MIT
 *
 * open_descriptors.h: which descriptors the process has open.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_OPEN_DESCRIPTORS_H
#define PP_SYS_OPEN_DESCRIPTORS_H

/* Calls back for each, those of own_files.h apart. Where there is no /proc: for those
 * below 65536. */
typedef void pp_descriptor_visit(int fd, void *context);
void pp_open_descriptors_each(pp_descriptor_visit *visit, void *context);

#endif
