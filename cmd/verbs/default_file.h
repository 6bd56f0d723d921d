/* SPDX-License-Identifier: MIT
 *
 * default_file.h: the profile of a verb for which the user named none.
 */
#ifndef CP_DEFAULT_FILE_H
#define CP_DEFAULT_FILE_H

/* Returns "-" if standard input is a pipe, a file or a socket, and has bytes; it waits for the first
 * one, and says so after a second. A terminal and /dev/null are nothing to read. Else finds the newest profile in the current folder and prints its
 * name on stderr. Returns the name, to be freed. If there is none, complains of that as of a wrong command line and
 * returns NULL. */
char *cp_default_file(const char *verb);

/* Finds the regular file in the current folder that was changed last, of those whose names end in
 * .pb.gz and do not begin with a point. Returns its name, to be freed, or NULL if there is none. */
char *cp_newest_profile(void);

#endif
