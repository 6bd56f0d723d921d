/* SPDX-License-Identifier: MIT
 *
 * profile_names.h: which names a program's own profiles may have.
 *
 * A name stands in the first line of a text, in a path of the HTTP server, and is what a profile is
 * found by.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_CUSTOM_PROFILE_NAMES_H
#define PP_KINDS_CUSTOM_PROFILE_NAMES_H

enum { PP_PROFILE_NAME_MAX = 1023 /* bytes */ };

/*
 * 0, -EINVAL (NULL, empty, with white space or control characters), -ENAMETOOLONG, or -EEXIST for
 * what is built in, whether it is there now or not, and for what the HTTP server answers otherwise.
 */
int pp_profile_name_check(const char *name);

#endif
