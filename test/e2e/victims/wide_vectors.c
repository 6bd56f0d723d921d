/* SPDX-License-Identifier: MIT
 *
 * wide_vectors.c STACK: computes for 300 ms with values in all vectors and predicates of SVE, of the longest that the
 * processor has, and notices when one changes. Prints their bytes and those that the kernel stores at a signal. Exit
 * status 42; 77 where there is no SVE.
 *
 *   plain    signals come to the thread's own stack
 *   large    to an alternate one of 64 KiB
 *   exact    to one that has room for the kernel's frame alone
 */
#include "burn.h"

#include <string.h>

#if defined(__aarch64__)
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

enum { STATUS = 42, DISTURBED = 3, WORK_MS = 300, LARGE = 64 * 1024, LONGEST = 256 };

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* keep_vectors(seed, turns): 0 if z0 to z30, p1 and p2 are the same after so many turns of a loop. */
unsigned long keep_vectors(unsigned long seed, unsigned long turns);
__asm__(".text\n"
        ".arch armv8.2-a+sve\n"
        ".p2align 4\n"
        ".globl keep_vectors\n"
        ".type keep_vectors, %function\n"
        "keep_vectors:\n"
        "    .cfi_startproc\n"
        "    sub sp, sp, #64\n"
        "    .cfi_adjust_cfa_offset 64\n"
        "    stp d8, d9, [sp]\n"
        "    stp d10, d11, [sp, #16]\n"
        "    stp d12, d13, [sp, #32]\n"
        "    stp d14, d15, [sp, #48]\n"
        "    ptrue p0.d\n"
        "    whilelo p1.b, xzr, x0\n"
        "    ptrue p2.b, vl8\n"
        "    .irp "
        "n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
        "    add x9, x0, #\\n * 64\n"
        "    index z\\n\\().d, x9, #3\n"
        "    .endr\n"
        "1:  subs x1, x1, #1\n"
        "    b.ne 1b\n"
        "    mov x2, xzr\n"
        "    .irp "
        "n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
        "    add x9, x0, #\\n * 64\n"
        "    index z31.d, x9, #3\n"
        "    cmpne p3.d, p0/z, z\\n\\().d, z31.d\n"
        "    cset x9, any\n"
        "    orr x2, x2, x9\n"
        "    .endr\n"
        "    whilelo p3.b, xzr, x0\n"
        "    ptrue p4.b\n"
        "    eors p3.b, p4/z, p3.b, p1.b\n"
        "    cset x9, any\n"
        "    orr x2, x2, x9\n"
        "    ptrue p3.b, vl8\n"
        "    eors p3.b, p4/z, p3.b, p2.b\n"
        "    cset x9, any\n"
        "    orr x0, x2, x9\n"
        "    ldp d8, d9, [sp]\n"
        "    ldp d10, d11, [sp, #16]\n"
        "    ldp d12, d13, [sp, #32]\n"
        "    ldp d14, d15, [sp, #48]\n"
        "    add sp, sp, #64\n"
        "    .cfi_adjust_cfa_offset -64\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size keep_vectors, . - keep_vectors\n"
        ".arch armv8-a\n");

static _Alignas(16) char memory[LARGE];

int work(void)
{
    struct burn b = burn_for(WORK_MS);
    for (unsigned long round = 1; burn_on(&b); round++) {
        if (keep_vectors(round % LONGEST, 20000) != 0) {
            return DISTURBED;
        }
    }
    report("work", burn_used(&b));
    return STATUS;
}

int main(int argc, char **argv)
{
    const char *where = argc > 1 ? argv[1] : "plain";
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    if ((getauxval(AT_HWCAP) & HWCAP_SVE) == 0) {
        return 77;
    }
    int bytes = prctl(PR_SVE_SET_VL, LONGEST);
    printf("vector %d\nframe %zu\n", bytes & PR_SVE_VL_LEN_MASK, frame);
    if (strcmp(where, "plain") != 0) {
        size_t size = strcmp(where, "large") == 0 ? LARGE : frame;
        const stack_t stack = {.ss_sp = memory + LARGE - size, .ss_size = size};
        if (size > LARGE || sigaltstack(&stack, NULL) != 0) {
            return 2;
        }
    }
    return work();
}
#else
int main(void)
{
    return 77;
}
#endif
