/* SPDX-License-Identifier: MIT
 *
 * page_data.S: the compressed page, as bytes of the library (service.c).
 */
#ifdef __CET__
#include <cet.h> /* the library says that it may run with CET; so must all its parts */
#endif

    .section .rodata.page, "a", @progbits
    .globl http_page_data, http_page_size
    .hidden http_page_data, http_page_size
    .type http_page_data, @object
    .type http_page_size, @object
http_page_data:
    .incbin "page.html.gz"
.Lend:
    .size http_page_data, . - http_page_data
    .balign 8
http_page_size:
    .quad .Lend - http_page_data
    .size http_page_size, . - http_page_size
    .section .note.GNU-stack, "", @progbits
