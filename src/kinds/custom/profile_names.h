/* SPDX-License-Identifier: MIT
 *
 * profile_names.h: which names a program's own profiles may have.
 *
 * The name is the key of a profile. It is in the first line of a text, and in a path of the HTTP
 * server.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_CUSTOM_PROFILE_NAMES_H
#define PP_KINDS_CUSTOM_PROFILE_NAMES_H

enum { PP_PROFILE_NAME_MAX = 1023 /* bytes */ };

/*
 * Checks a name. 0, -EINVAL (NULL, empty, with white space or control characters), -ENAMETOOLONG,
 * or -EEXIST for the name of a built-in profile, whether that exists now or not, and for a path
 * that the HTTP server uses for something else.
 */
int pp_profile_name_check(const char *name);

#endif
