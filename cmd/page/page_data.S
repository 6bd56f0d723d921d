/* SPDX-License-Identifier: MIT
 *
 * page_data.S: the assembled page, as bytes of the program (page_data.h).
 */
    .section .rodata.page, "a", @progbits
    .globl cp_page_data, cp_page_length
    .hidden cp_page_data, cp_page_length
    .type cp_page_data, @object
    .type cp_page_length, @object
cp_page_data:
    .incbin "page.html"
.Lend:
    .size cp_page_data, . - cp_page_data
    .balign 8
cp_page_length:
    .quad .Lend - cp_page_data
    .size cp_page_length, . - cp_page_length
    .section .note.GNU-stack, "", @progbits
