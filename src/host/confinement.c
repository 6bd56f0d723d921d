/* SPDX-License-Identifier: MIT
 *
 * confinement.c: prctl and syscall, by which a program confines itself.
 *
 * A seccomp filter that the program installs at run time may kill the process for calls that worked
 * a moment before: timer_create in a new thread, open at the end. So the profile ends, and is
 * written, just before the filter is installed.
 *
 * A program that forbids itself to read the processor's counter of cycles (PR_SET_TSC) would be
 * killed by the vDSO's clocks in our handler. The library reads clocks by system calls from then
 * on.
 *
 * The hooks are plain functions of as many words as the real functions may take. They have names of
 * their own in C, because libc declares the real ones variadic; the symbols are prctl and syscall.
 *
 * Zone: HOOK.
 * Locks: none here; the event before_confinement takes the session's lock.
 * Tested by: e2e.seccomp, e2e.clocks
 */
#include "host/hooks.h"

#include "arch/system_call.h"
#include "host/dispositions.h"
#include "host/real.h"
#include "modules/libc.h"
#include "sys/clock.h"

#include <errno.h>
#include <linux/prctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_clone3
#define SYS_clone3 435 /* Linux 5.3 */
#endif

enum {
    SET_MODE_STRICT = 0, /* operations of seccomp(2) that confine; the others only ask */
    SET_MODE_FILTER = 1
};

typedef long word_function(long, long, long, long, long, long, long);
typedef int prctl_function(int, long, long, long, long);

static struct {
    void *syscall;
    void *prctl;
} real_functions;

static bool syscall_is_anothers; /* a library after this one hooks it, too */

int pp_hook_prctl(int option, long a, long b, long c, long d) __asm__("prctl");

static void before_confinement(void)
{
    if (pp_hook_tell_confinement()) {
        pp_hook_give_defaults_back();
    }
}

static void before_prctl(int option, long a)
{
    if (option == PR_SET_SECCOMP) {
        before_confinement();
    } else if (option == PR_SET_TSC && (int)a == PR_TSC_SIGSEGV) {
        pp_clock_avoid_counter();
    }
}

/* In place of libc's syscall(), by which Rust's standard library, abseil and std::atomic wait. */
__attribute__((noinline)) static long call_with_frame(long number, long a, long b, long c, long d,
                                                      long e, long f)
{
    PP_STORE_RETURN_ADDRESS();
    long result = pp_system_call(number, a, b, c, d, e, f);
    PP_STORE_RETURN_ADDRESS();
    return pp_real_result(result);
}

/* Whether the function of the call needs a frame, and may have one: a child may begin on another stack. */
static bool needs_frame(long number)
{
    return !PP_LIBC_SYSCALL_HAS_RETURN_ADDRESS &&
           !__atomic_load_n(&syscall_is_anothers, __ATOMIC_RELAXED) && number != SYS_clone &&
           number != SYS_clone3;
}

/* The entry of the symbol `syscall` is beside kinds/contention/futex.c. */
__attribute__((visibility("hidden"), used)) long pp_hook_syscall(long number, long a, long b,
                                                                 long c, long d, long e, long f)
{
    word_function *real = (word_function *)pp_real(&real_functions.syscall, "syscall");
    pp_identity_change change;
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (number == SYS_seccomp && (a == SET_MODE_STRICT || a == SET_MODE_FILTER)) {
        before_confinement();
    } else if (number == SYS_prctl) {
        before_prctl((int)a, b);
    }
    pp_identity_begin_call(&change, number, a, b);
    long result = needs_frame(number) ? call_with_frame(number, a, b, c, d, e, f)
                                      : real(number, a, b, c, d, e, f);
    pp_identity_end(&change);
    return result;
}

__attribute__((visibility("default"))) int pp_hook_prctl(int option, long a, long b, long c, long d)
{
    prctl_function *real = (prctl_function *)pp_real(&real_functions.prctl, "prctl");
    pp_identity_change change;
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    before_prctl(option, a);
    pp_identity_begin_call(&change, SYS_prctl, option, a);
    int result = real(option, a, b, c, d);
    pp_identity_end(&change);
    return result;
}

void pp_hook_confinement_init(void)
{
    pp_real(&real_functions.syscall, "syscall");
    if (!PP_LIBC_SYSCALL_HAS_RETURN_ADDRESS) { /* libc's is 0 in a static program, where it is `real` */
        uintptr_t libcs = pp_libc_function("syscall");
        uintptr_t real = (uintptr_t)real_functions.syscall;
        __atomic_store_n(&syscall_is_anothers, libcs != 0 && libcs != real, __ATOMIC_RELAXED);
    }
    pp_real(&real_functions.prctl, "prctl");
}
