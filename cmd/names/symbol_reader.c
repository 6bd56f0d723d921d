/* SPDX-License-Identifier: MIT
 *
 * symbol_reader.c: see symbol_reader.h.
 *
 * libiberty passes its text in pieces to a callback, which cannot ask libiberty to stop. So the
 * callback, and the handler of a timer, leave libiberty by a jump.
 *
 *   C++    This demangler allocates no memory, so a jump may leave it at any place.
 *   Rust   This demangler holds memory only while it passes an identifier that is not ASCII. The
 *          callback drops such a piece and jumps at the next one. A next one always comes: a part
 * of a
 *          Rust symbol that multiplies the text writes a bracket each time.
 *
 * Tested by: unit.cmd_names.
 */
#include "names/symbol_reader.h"

#include "base/message.h"
#include "base/pool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>

#include <libiberty/demangle.h>

enum {
    SYMBOL_BYTES = 8 * 1024,
    TEXT_BYTES = 64 * 1024,
    TICK_US = 50 * 1000, /* the second tick during one symbol ends the reading */
    TOO_SLOW_MAX = 16
};

typedef int demangler(const char *symbol, int options, demangle_callbackref take, void *context);

static struct {
    sigjmp_buf leave;
    volatile sig_atomic_t in_cxx; /* the handler may jump */
    volatile sig_atomic_t ticks;  /* during this symbol */
    bool ticking;
    unsigned too_slow; /* symbols so far */
    bool too_long;     /* the text of this symbol */
    size_t length;
    char text[TEXT_BYTES];
} work;

/* ---- leaving the demangler ---- */

static void on_tick(int signal)
{
    (void)signal;
    if (work.in_cxx && ++work.ticks == 2) {
        siglongjmp(work.leave, 1);
    }
}

/* With SA_NODEFER the signal does not stay blocked after the jump. */
static void start_ticking(void)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_NODEFER | SA_RESTART};
    const struct itimerval period = {{0, TICK_US}, {0, TICK_US}};
    sigset_t tick;

    sigemptyset(&tick);
    sigaddset(&tick, SIGVTALRM);
    work.ticking = sigaction(SIGVTALRM, &action, NULL) == 0 &&
                   sigprocmask(SIG_UNBLOCK, &tick, NULL) == 0 &&
                   setitimer(ITIMER_VIRTUAL, &period, NULL) == 0;
}

static bool is_ascii(const char *piece, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)piece[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

static void take(const char *piece, size_t length, void *context)
{
    (void)context;
    if (!work.too_long && length < sizeof work.text - work.length) {
        memcpy(work.text + work.length, piece, length);
        work.length += length;
        return;
    }
    work.too_long = true;
    if (work.in_cxx || is_ascii(piece, length)) {
        siglongjmp(work.leave, 1);
    }
}

/* ---- symbols ---- */

static bool run(demangler *demangle, const char *symbol, int options, bool is_cxx)
{
    work.length = 0;
    work.too_long = false;
    work.ticks = 0;
    if (sigsetjmp(work.leave, 0) != 0) {
        work.in_cxx = 0;
        return false;
    }
    work.in_cxx = is_cxx;
    int read = demangle(symbol, options, take, NULL);
    work.in_cxx = 0;
    return read != 0 && !work.too_long;
}

static char *text_of(demangler *demangle, const char *symbol, int options, bool is_cxx)
{
    if (strnlen(symbol, SYMBOL_BYTES) == SYMBOL_BYTES || !run(demangle, symbol, options, is_cxx)) {
        return NULL;
    }
    return cp_heap_copy(work.text, work.length);
}

static void count_if_too_slow(const char *symbol)
{
    if (work.ticks < 2) {
        return;
    }
    work.too_slow++;
    if (work.too_slow == 1) {
        cp_complain(
            "warning: the C++ symbol '%.60s%s' takes too long to read; it is shown as it is",
            symbol, strlen(symbol) > 60 ? "..." : "");
    }
    if (work.too_slow == TOO_SLOW_MAX) {
        cp_complain("warning: %d C++ symbols took too long to read; all others that are still "
                    "unread are shown as they are",
                    TOO_SLOW_MAX);
    }
}

char *cp_cxx_symbol_read(const char *symbol, int options)
{
    if (!work.ticking) {
        start_ticking();
    }
    if (!work.ticking || work.too_slow >= TOO_SLOW_MAX) {
        return NULL;
    }
    char *text = text_of(cplus_demangle_v3_callback, symbol, options, true);
    count_if_too_slow(symbol);
    return text;
}

char *cp_rust_symbol_read(const char *symbol)
{
    return text_of(rust_demangle_callback, symbol, DMGL_NO_OPTS, false);
}
