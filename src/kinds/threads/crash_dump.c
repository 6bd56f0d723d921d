/* SPDX-License-Identifier: MIT
 *
 * crash_dump.c: writes a crash in parts, the surest first: each part is on the log before the next
 * one is tried. The signal needs nothing, the thread's own stack no other thread; the others may
 * have to be asked.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the reserve.
 * Tested by: e2e.crash
 */
#include "kinds/threads/crash_dump.h"

#include "arch/registers.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/text.h"
#include "kinds/threads/thread_control.h"
#include "kinds/threads/thread_dump.h"
#include "sys/address_space.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "sys/task_state.h"
#include "sys/tasks.h"
#include "threads/thread_snapshot.h"
#include "unwind/walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    DEEPEST = 1 << 18, /* frames that are walked: a stack of 8 MiB with 32 bytes a frame */
    MOST_FRAMES = 100, /* that are shown of a stack, as in Go */
    RESERVE = 16 << 20,
    SHARE = 16 /* the reserve is at most one part in so many of a limited address space */
};

static const uint64_t patience_ns = 1000000000; /* for a reader that takes nothing */

static struct {
    /* Address space, which a program may have used up when it crashes. Untouched. */
    void *reserve;
    size_t reserve_bytes;
} state;

bool pp_crash_dump_prepare(void)
{
    if (!pp_thread_control_prepare()) {
        return false;
    }
    if (state.reserve == NULL) {
        state.reserve_bytes = pp_address_space_share(RESERVE, SHARE);
        state.reserve = pp_memory_map(state.reserve_bytes);
    }
    return true;
}

static void free_reserve(void)
{
    if (state.reserve != NULL) {
        pp_memory_unmap(state.reserve, state.reserve_bytes);
        state.reserve = NULL;
    }
}

/* ---- the log ---- */

static int write_to_log(void *ctx, const void *data, size_t length)
{
    bool *failed = ctx;
    uint64_t give_up_ns = pp_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    *failed = *failed || !pp_log_lines_until(data, length, give_up_ns);
    return *failed ? -EIO : 0;
}

/* ---- the signal ---- */

static const char *text_of_signal(int signal)
{
    static const struct {
        int signal;
        const char *text;
    } texts[] = {{SIGSEGV, "SIGSEGV: segmentation violation"},
                 {SIGBUS, "SIGBUS: bus error"},
                 {SIGFPE, "SIGFPE: floating-point exception"},
                 {SIGILL, "SIGILL: illegal instruction"},
                 {SIGABRT, "SIGABRT: abort"},
                 {SIGQUIT, "SIGQUIT: quit"}};
    size_t i = 0;
    while (i + 1 < sizeof texts / sizeof *texts && texts[i].signal != signal) {
        i++;
    }
    return texts[i].text;
}

static const char *name_of_code(int signal, int code)
{
    static const struct {
        int signal, code;
        const char *name;
    } names[] = {{SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR"},
                 {SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR"},
                 {SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR"},
                 {SIGBUS, BUS_ADRALN, "BUS_ADRALN"},
                 {SIGBUS, BUS_ADRERR, "BUS_ADRERR"},
                 {SIGBUS, BUS_OBJERR, "BUS_OBJERR"},
                 {SIGFPE, FPE_INTDIV, "FPE_INTDIV"},
                 {SIGFPE, FPE_INTOVF, "FPE_INTOVF"},
                 {SIGFPE, FPE_FLTDIV, "FPE_FLTDIV"},
                 {SIGFPE, FPE_FLTOVF, "FPE_FLTOVF"},
                 {SIGFPE, FPE_FLTUND, "FPE_FLTUND"},
                 {SIGFPE, FPE_FLTRES, "FPE_FLTRES"},
                 {SIGFPE, FPE_FLTINV, "FPE_FLTINV"},
                 {SIGILL, ILL_ILLOPC, "ILL_ILLOPC"},
                 {SIGILL, ILL_ILLOPN, "ILL_ILLOPN"},
                 {SIGILL, ILL_PRVOPC, "ILL_PRVOPC"},
                 {0, SI_KERNEL, "SI_KERNEL"},
                 {0, SI_USER, "SI_USER"},
                 {0, SI_QUEUE, "SI_QUEUE"},
                 {0, SI_TKILL, "SI_TKILL"},
                 {0, SI_TIMER, "SI_TIMER"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == code && (names[i].signal == signal || names[i].signal == 0)) {
            return names[i].name;
        }
    }
    return NULL;
}

static void add_hex(pp_text *text, uint64_t number)
{
    char digits[PP_HEX_BYTES];
    pp_text_add(text, "0x");
    pp_text_add(text, pp_hex(number, digits));
}

static void add_code(pp_text *text, const siginfo_t *info)
{
    const char *name = name_of_code(info->si_signo, info->si_code);
    int code = info->si_code;
    pp_text_add(text, code < 0 ? " sigcode=-" : " sigcode=");
    pp_text_add_number(text, code < 0 ? 0 - (uint64_t)code : (uint64_t)code);
    if (name != NULL) {
        pp_text_add(text, " (");
        pp_text_add(text, name);
        pp_text_add(text, ")");
    }
}

static void add_cause(pp_text *text, const siginfo_t *info)
{
    if (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL) {
        pp_text_add(text, " sent by process ");
        pp_text_add_number(text, (uint64_t)info->si_pid);
    } else if (info->si_code > 0 && info->si_code != SI_KERNEL) {
        pp_text_add(text, " addr=");
        add_hex(text, (uintptr_t)info->si_addr);
    }
}

/* Needs no memory: there may be none. */
static void write_signal(const siginfo_t *info, const void *context, pprof_writer writer)
{
    pp_registers registers;
    pp_text text = PP_TEXT_INIT;
    pp_registers_from_context(&registers, context);
    pp_text_add(&text, text_of_signal(info->si_signo));
    pp_text_add(&text, "\nPC=");
    add_hex(&text, registers.r[PP_REG_PC]);
    pp_text_add(&text, " thread=");
    pp_text_add_number(&text, (uint64_t)pp_task_self());
    add_code(&text, info);
    add_cause(&text, info);
    pp_text_add(&text, "\n\n");
    writer.write(writer.ctx, text.data, text.length);
}

static void write_registers(const void *context, pprof_writer writer)
{
    static const char spaces[] = "       "; /* the longest name has six letters */
    writer.write(writer.ctx, "\n", 1);
    for (unsigned i = 0; i < PP_SHOWN_REGISTERS; i++) {
        pp_text text =
            PP_TEXT_INIT; /* for one line: on aarch64 all of them are longer than a text */
        uint64_t value = 0;
        const char *name = pp_shown_register(i, context, &value);
        pp_text_add(&text, name);
        pp_text_add(&text, spaces + strlen(name));
        add_hex(&text, value);
        pp_text_add(&text, "\n");
        writer.write(writer.ctx, text.data, text.length);
    }
}

/* ---- the stacks ---- */

static uint32_t walk_own(const void *context, pp_arena *arena, uintptr_t *pcs)
{
    pp_walk_space *space = pp_arena_alloc(arena, sizeof *space);
    pp_walk walk = {.pcs = pcs, .space = space, .capacity = DEEPEST, .without_memo = true};
    if (space == NULL || pcs == NULL) {
        return 0;
    }
    pp_walk_from_context(context, &walk);
    if (walk.stop != PP_STOP_END) {
        pcs[walk.depth++] = (uintptr_t)pprof_missing_frames + 1;
    }
    return walk.depth;
}

static void name_row(void *of_row)
{
    pp_thread_row *row = of_row;
    int folder = pp_task_open();
    if (folder >= 0) {
        pp_task_name(folder, row->tid, row->name);
        pp_task_close(folder);
    }
}

static void write_rows(const pp_thread_row *rows, size_t count, bool interrupted, pp_arena *arena,
                       pprof_writer writer)
{
    const pp_thread_dump dump = {.rows = rows,
                                 .count = count,
                                 .interrupted = interrupted,
                                 .most_frames = MOST_FRAMES,
                                 .symbolize = PP_SYMBOLIZE_NAMES};
    pp_thread_dump_write(&dump, arena, writer);
}

static void write_own(pp_threads_wish *wish, pp_arena *arena, pprof_writer writer)
{
    pp_threads threads;
    wish->alone = true;
    if (pp_threads_snapshot(wish, arena, &threads) == 0) {
        pp_apart(name_row, &threads.rows[0]);
        write_rows(threads.rows, 1, true, arena, writer);
    }
    pp_threads_release(&threads);
}

static void write_others(pp_threads_wish *wish, pp_arena *arena, pprof_writer writer)
{
    pp_threads threads;
    wish->alone = false;
    if (pp_threads_snapshot(wish, arena, &threads) == 0 && threads.count > 1) {
        writer.write(writer.ctx, "\n", 1);
        write_rows(threads.rows + 1, threads.count - 1, false, arena, writer);
    }
    pp_threads_release(&threads);
}

void pp_crash_dump_write(const siginfo_t *info, const void *context)
{
    bool failed = false;
    const pprof_writer writer = {write_to_log, &failed};
    pp_arena arena = PP_ARENA_INIT;
    write_signal(info, context, writer);
    free_reserve();
    uintptr_t *pcs = pp_arena_array(&arena, DEEPEST + 1, sizeof *pcs);
    pp_threads_wish wish = {.pc = pcs,
                            .depth = walk_own(context, &arena, pcs),
                            .with_stacks = true,
                            .with_names = true,
                            .afresh = true};
    write_own(&wish, &arena, writer);
    if (!failed) {
        write_others(&wish, &arena, writer);
    }
    write_registers(context, writer);
    pp_arena_release(&arena);
}
