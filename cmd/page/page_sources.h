/* SPDX-License-Identifier: MIT
 *
 * page_sources.h: the source files of a profile's lines, for the page.
 */
#ifndef CP_PAGE_SOURCES_H
#define CP_PAGE_SOURCES_H

typedef struct cp_bytes cp_bytes;
typedef struct cp_profile cp_profile;

/* Appends a JSON object with the text of each source file that this machine has and in which the
 * profile has a line: {"PATH": "TEXT", ...}. No byte of it has a meaning in HTML. Leaves out a file
 * that is no text or has more than 2 MiB, and what would make the object larger than 32 MiB. */
void cp_page_put_sources(const cp_profile *profile, cp_bytes *out);

#endif
