/* SPDX-License-Identifier: MIT
 *
 * page_data.c: the compressed page, as bytes of the library (service.c).
 *
 * The compiler makes the object, so it says of itself what all others say: that it may run with CET or BTI.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_contract, page.browser
 */
#include <stddef.h>

extern const unsigned char http_page_data[];
extern const size_t http_page_size;

__asm__(".pushsection .rodata.page, \"a\"\n"
        "    .globl http_page_data, http_page_size\n"
        "    .hidden http_page_data, http_page_size\n"
        "    .type http_page_data, %object\n"
        "    .type http_page_size, %object\n"
        "http_page_data:\n"
        "    .incbin \"page.html.gz\"\n"
        ".Lend_of_page:\n"
        "    .size http_page_data, . - http_page_data\n"
        "    .balign 8\n"
        "http_page_size:\n"
        "    .quad .Lend_of_page - http_page_data\n"
        "    .size http_page_size, . - http_page_size\n"
        "    .popsection\n");
