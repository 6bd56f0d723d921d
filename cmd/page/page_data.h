/* SPDX-License-Identifier: MIT
 *
 * page_data.h: the page that shows a profile, as the build assembled it.
 *
 * A profile is put in front of the end tag of its body; page_file.c. A server sends the page as it
 * is: the page then fetches the profile.
 */
#ifndef CP_PAGE_DATA_H
#define CP_PAGE_DATA_H

#include <stddef.h>

extern const char cp_page_data[];
extern const size_t cp_page_length;

#endif
