/* SPDX-License-Identifier: MIT
 *
 * handler_depth.c: paints, strikes, looks.
 *
 * A signal of the timer is caught once and sent again as it was, so that it strikes where the
 * paint is fresh. Linked against the library's objects: nobody outside can empty the rule cache, or
 * make it forget which modules can go away.
 */
#include "handler_depth.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "modules/modules.h"
#include "modules/own_code.h"
#include "sys/sampling_signal.h"
#include "unwind/rule_cache.h"

#include <pprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 1 << 18,
    KEEP_BYTES = 64 * 1024, /* of the stack's low end, where a thread library may keep something */
    RED_ZONE = 128,
    STRIKES = 2,
    HZ = 1000,
    WAIT_ROUNDS = 20000
};

/* What the kernel leaves between the handler's stack and the context; and code that keeps a frame pointer, calls what its
 * first argument names, and returns. */
#if defined(__x86_64__)
enum { BELOW_CONTEXT = sizeof(uintptr_t) }; /* the address of the restorer */
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const uint8_t made_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#elif defined(__aarch64__)
enum { BELOW_CONTEXT = sizeof(siginfo_t) };
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret */
static const uint32_t made_code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

static const uint64_t paint = UINT64_C(0x5a17c0ffee5a17c0);
static const uint64_t signal_bit = UINT64_C(1) << (PP_SAMPLING_SIGNAL - 1);

/* What the kernel takes: libc keeps the signal for itself. */
typedef struct kernel_action {
    void (*handler)(int number, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
} kernel_action;

/* The section of the code that is interrupted.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names */
extern const char __start_struck[], __stop_struck[];
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static kernel_action profilers;
static siginfo_t seen;
static volatile sig_atomic_t seen_count;
static uintptr_t entry_sp;
static uintptr_t stack_low;
static size_t deepest, kernel_frame;
static void (*before_strike)(void);

static bool set_action(const kernel_action *action)
{
    return syscall(SYS_rt_sigaction, PP_SAMPLING_SIGNAL, action, NULL, sizeof action->mask) == 0;
}

static void remember(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    seen = *info;
    seen_count = 1;
}

static void note_entry(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    entry_sp = (uintptr_t)context - BELOW_CONTEXT;
}

/* ---- one strike ---- */

/* One signal at this very place; the handler's frame begins below `sp`. */
PP_RAW_MEMORY __attribute__((noinline, section("struck"))) static void
strike_once(uintptr_t *lowest, uintptr_t *sp)
{
    long self = pp_system_call(SYS_gettid);
    long process = pp_system_call(SYS_getpid);
    volatile uint64_t *low = (volatile uint64_t *)stack_low;
    /* Nothing is called between the painting and the look: a call would leave its own traces. */
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &signal_bit, NULL, sizeof signal_bit);
    uintptr_t here = 0;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(here));
#endif
    for (volatile uint64_t *at = low; (uintptr_t)at < here - RED_ZONE; at++) {
        *at = paint;
    }
    pp_system_call(SYS_rt_tgsigqueueinfo, process, self, PP_SAMPLING_SIGNAL, &seen);
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &signal_bit, NULL, sizeof signal_bit);
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &signal_bit, NULL, sizeof signal_bit);
    while (*low == paint) {
        low++;
    }
    *lowest = (uintptr_t)low;
    *sp = here;
}

/* The same place with two handlers: where ours begins, and how far it goes. */
__attribute__((noinline)) static void strike(void)
{
    kernel_action noting = profilers;
    noting.handler = note_entry;
    uintptr_t lowest = 0;
    uintptr_t sp = 0;
    for (int both = 0; both < 2; both++) {
        set_action(both == 0 ? &noting : &profilers);
        if (both == 1 && before_strike != NULL) {
            before_strike();
        }
        strike_once(&lowest, &sp);
    }
    size_t bytes = entry_sp - lowest;
    deepest = bytes > deepest ? bytes : deepest;
    kernel_frame = sp - entry_sp;
}

/* ---- places ---- */

static void strike_in_handler(int number)
{
    (void)number;
    strike();
}

static void strike_below_signal_frame(void)
{
    struct sigaction action = {.sa_handler = strike_in_handler};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

/* Code that no module owns. */
static void strike_below_made_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return;
    }
    memcpy(page, made_code, sizeof made_code);
    __builtin___clear_cache(page, (char *)page + sizeof made_code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0) {
        ((void (*)(void (*)(void)))(uintptr_t)page)(strike);
    }
    munmap(page, 4096);
}

/* The loader is asked for every module from now on, and calls none of them permanent. */
static void forget_modules(void)
{
    pp_own_code.bytes = 0;
    pp_modules_publish(NULL);
    pp_rule_cache_clear();
}

/* The code that is interrupted is taken for libpprof's: its frames are cut, and the function that
 * is shown is looked up. */
static void claim_code(void)
{
    pp_own_code = (pp_own_code_place){.start = (uintptr_t)__start_struck,
                                      .bytes = (uintptr_t)__stop_struck - (uintptr_t)__start_struck,
                                      .known = true};
    pp_rule_cache_clear();
}

static void claim_code_and_forget_modules(void)
{
    forget_modules();
    claim_code();
}

/* Until the handler looks for threads that no hook has seen again (cpu_signal.c: every 250 ms). */
static void wait_for_look(void)
{
    const struct timespec pause = {.tv_nsec = 260000000};
    nanosleep(&pause, NULL);
}

/* The order matters: what a case forgets stays forgotten. */
static const struct {
    const char *name;
    void (*place)(void);
    void (*before)(void);
} cases[] = {
    {"cached", strike, NULL},
    {"look_for_threads", strike, wait_for_look},
    {"permanent_miss", strike, pp_rule_cache_clear},
    {"signal_frame_miss", strike_below_signal_frame, pp_rule_cache_clear},
    {"no_cfi_miss", strike_below_made_code, pp_rule_cache_clear},
    {"own_code_miss", strike, claim_code},
    {"removable_miss", strike, forget_modules},
    {"removable_signal_frame_miss", strike_below_signal_frame, forget_modules},
    {"removable_no_cfi_miss", strike_below_made_code, forget_modules},
    {"removable_own_code_miss", strike, claim_code_and_forget_modules},
};
_Static_assert(sizeof cases / sizeof *cases <= HANDLER_DEPTHS, "room for all cases");

typedef struct request {
    void (*place)(void);
} request;

/* Catches one signal of the profiler that runs, of the calling thread: it takes no others for its
 * own. */
static bool catch_signal(void)
{
    kernel_action ours = profilers;
    ours.handler = remember;
    seen_count = 0;
    set_action(&ours);
    for (long i = 0; i < WAIT_ROUNDS && !seen_count; i++) {
        for (int j = 0; j < WAIT_ROUNDS && !seen_count; j++) {
            __asm__ volatile("");
        }
    }
    set_action(&profilers);
    return seen_count != 0;
}

static void *strike_on_thread(void *context)
{
    const request *r = context;
    stack_low = ((uintptr_t)__builtin_frame_address(0) - STACK_BYTES + KEEP_BYTES) & ~(uintptr_t)63;
    volatile int strikes = STRIKES; /* one loop, not unrolled: always the same return address */
    deepest = 0;
    if (!catch_signal()) {
        return NULL;
    }
    while (strikes-- > 0) {
        deepest = 0; /* the first fills the rule cache: only the last counts */
        r->place();
    }
    return NULL;
}

static bool measure_case(size_t index, handler_depth *depth)
{
    pthread_t thread;
    pthread_attr_t attributes;
    request r = {cases[index].place};
    before_strike = cases[index].before;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    bool ran = pthread_create(&thread, &attributes, strike_on_thread, &r) == 0 &&
               pthread_join(thread, NULL) == 0;
    pthread_attr_destroy(&attributes);
    set_action(&profilers);
    *depth = (handler_depth){cases[index].name, deepest, kernel_frame};
    return ran && deepest > 0;
}

/* ---- the profile ---- */

static int discard(void *context, const void *data, size_t length)
{
    (void)context, (void)data, (void)length;
    return 0;
}

size_t handler_depth_measure(handler_depth depths[HANDLER_DEPTHS])
{
    const pprof_cpu_options options = {.size = sizeof options, .hz = HZ};
    size_t count = 0;
    if (pprof_start_cpu_profile_opts((pprof_writer){discard, NULL}, &options) != 0) {
        return 0;
    }
    if (syscall(SYS_rt_sigaction, PP_SAMPLING_SIGNAL, NULL, &profilers, sizeof profilers.mask) ==
        0) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            count += measure_case(i, &depths[count]);
        }
    }
    pprof_stop_cpu_profile();
    return count;
}
