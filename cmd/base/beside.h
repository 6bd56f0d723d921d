/* SPDX-License-Identifier: MIT
 *
 * beside.h: the libraries that belong to this command.
 */
#ifndef CP_BESIDE_H
#define CP_BESIDE_H

/* Searches the folders of libraries beside the command: in the build tree, and where it is
 * installed. Returns the path of the library NAME, to be freed, or NULL if it cannot be read in
 * any of them. */
char *cp_beside_command(const char *name);

#endif
