/* SPDX-License-Identifier: MIT
 *
 * page_data.h: the page that shows a profile, compressed by gzip (page_data.S).
 */
#ifndef PP_HTTP_PAGE_DATA_H
#define PP_HTTP_PAGE_DATA_H

#include <stddef.h>

extern const unsigned char http_page_data[];
extern const size_t http_page_size;

#endif
