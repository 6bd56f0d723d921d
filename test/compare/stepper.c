/* SPDX-License-Identifier: MIT
 *
 * stepper.c: single-steps a program and compares, at every instruction, the walk of its stack with
 * the truth.
 *
 *   unwind_stepper [OPTION]... -- COMMAND...
 *
 *   machine --> shadow.c (calls, returns, signals) ----> the true chain   \
 *   agent.c in the program --> pp_walk_from_context ---> our frames        > compared --> report
 *   libunwind-ptrace, where the two differ, and at random --> its frames  /
 *
 * An instruction is compared at its first three visits, at every power of two from there on, and at
 * one visit of 128 at random. What "agree" means stands in shadow.h. Code that has been stepped
 * through often without a first visit is then run at full speed, from a call to its return, but for
 * every 31st time (--all: it is not); a single step costs a few microseconds, under a hypervisor up
 * to 30. In an emulated machine it costs a millisecond: --sparse compares first visits and powers of two, and
 * leaves a function sooner.
 *
 * SIGINT and SIGTERM end the program and print what has been seen until then. Exit status: 0 if the
 * share of agreeing PCs is --least and every class of disagreement is known; 1 if not; 2 if
 * something does not work; 77 if ptrace(2) is refused.
 *
 * Zone: tests.
 */
#include "classes.h"
#include "judge.h"
#include "places.h"
#include "report.h"
#include "second_opinion.h"
#include "shadow.h"
#include "tracee.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    QUIET_CALLS = 10,         /* without a first visit, before a function is run at full speed */
    QUIET_CALLS_AT_START = 2, /* the same while there is no agent yet */
    STEPPED_ANYWAY = 31,      /* one of so many calls */
    COMPARED_ANYWAY = 128,    /* one of so many steps, at random */
    HURRY_AFTER = 2000        /* steps without a first visit: the function is left, if --sparse */
};

static struct {
    const char *agent, *known, *append;
    double least;
    unsigned long long max_steps;
    bool all, from_entry, sparse;
} options = {.least = 0};

static unsigned long long steps, run_calls;

static const shadow_memory memory = {tracee_read_word, judge_stack_bounds};

static shadow_point here(void)
{
    return (shadow_point){machine_pc(&tracee_the.now), machine_sp(&tracee_the.now)};
}

/* ---- stepping ---- */

/* At random too: the memo is then of a stack of long ago, as between two samples of a profile. */
static bool is_due(const place_record *record)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (!options.sparse && (state >> 33) % COMPARED_ANYWAY == 0) ||
           record->visits <= judge_state.first_visits ||
           (record->visits & (record->visits - 1)) == 0;
}

static void learn_instruction(place_record *record, bool in_file)
{
    uint8_t code[MACHINE_CODE_MAX] = {0};
    if (!record->known || !in_file) {
        tracee_read(machine_pc(&tracee_the.now), code, sizeof code);
        record->instruction = instruction_decode(code);
        record->known = true;
    }
}

/* Mappings change by system calls of the program. */
static void note_system_call(uint64_t number)
{
    switch (number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_brk:
    case SYS_mprotect:
        places_stale();
        second_opinion_forget();
        break;
    default:
        break;
    }
}

/* Whether the step went into a signal handler; *point is what it will return to. */
static bool entered_handler(int signal, uint64_t sp_before, shadow_point *point, uint64_t *restorer)
{
    ucontext_t context;
    uint64_t at = 0;
    if (signal == 0 ||
        !machine_in_handler(&tracee_the.now, signal, tracee_read_word, &at, restorer) ||
        tracee_read(at, &context, MACHINE_CONTEXT_BYTES) < MACHINE_CONTEXT_BYTES ||
        machine_context_sp(&context) != sp_before) {
        return false;
    }
    *point = (shadow_point){machine_context_pc(&context), sp_before};
    return true;
}

static void begin_program(void)
{
    uint64_t lo = 0;
    uint64_t hi = 0;
    places_stale();
    second_opinion_forget();
    judge_forget();
    memset(judge_state.shared, 0, sizeof *judge_state.shared);
    if (options.from_entry) {
        tracee_run_to(tracee_program_entry(), 0);
    }
    judge_stack_bounds(machine_sp(&tracee_the.now), &lo, &hi);
    shadow_begin(&judge_state.truth, machine_sp(&tracee_the.now), lo, hi);
}

/* Runs to the return to the entry at full speed. */
static tracee_event run_to(shadow_entry entry)
{
    tracee_event event = tracee_run_to(entry.pc, entry.slot);
    if (event == TRACEE_STEPPED) {
        places_stale();
        second_opinion_forget();
        shadow_resume_at(&judge_state.truth, here(), &memory);
    }
    return event;
}

/* A loop with nothing new in it, in a function that was called once. */
static tracee_event run_if_slow(tracee_event stepped)
{
    static unsigned long long news, since;
    const shadow_entry *top = shadow_top(&judge_state.truth);
    if (judge_state.news != news) {
        news = judge_state.news;
        since = steps;
    }
    if (!options.sparse || steps - since < HURRY_AFTER || stepped != TRACEE_STEPPED ||
        top == NULL || top->interrupted || judge_state.truth.flight != SHADOW_GROUNDED) {
        return stepped;
    }
    since = steps;
    return run_to(*top);
}

/* A call was just executed: runs the function at full speed if there is nothing new in it. */
static tracee_event run_if_quiet(shadow_entry entry)
{
    place where = places_find(tracee_the.pid, machine_pc(&tracee_the.now));
    const place_record *function = places_record(where);
    bool seen = judge_state.shared->ready == 0 ? function->quiet >= QUIET_CALLS_AT_START
                                               : function->quiet >= QUIET_CALLS &&
                                                     function->compared >= judge_state.first_visits;
    if (options.all || !seen || ++run_calls % STEPPED_ANYWAY == 0) {
        return TRACEE_STEPPED;
    }
    return run_to(entry);
}

static void note_return(const shadow_entry *entry)
{
    if (entry->callee != 0) {
        place_record *function = places_record(places_find(tracee_the.pid, entry->callee));
        bool quiet = entry->mark == judge_state.news;
        function->quiet = (uint8_t)(!quiet ? 0 : function->quiet + (function->quiet < UINT8_MAX));
    }
}

/* After one step of the machine. */
static tracee_event follow(machine_step executed, uint64_t system_call, shadow_point before,
                           int signal)
{
    shadow_point interrupted;
    uint64_t restorer = 0;
    if (entered_handler(signal, before.sp, &interrupted, &restorer)) {
        shadow_signal(&judge_state.truth, interrupted, here(), restorer, &memory);
        judge_postponed();
        return TRACEE_STEPPED;
    }
    if (executed.kind == INSTRUCTION_SYSTEM_CALL) {
        note_system_call(system_call);
        if (system_call == SYS_rt_sigreturn) {
            shadow_signal_return(&judge_state.truth, here(), &memory);
            return TRACEE_STEPPED;
        }
    }
    const shadow_entry *top = shadow_top(&judge_state.truth);
    shadow_entry returned = top != NULL ? *top : (shadow_entry){0};
    shadow_step(&judge_state.truth, executed, before, here(), &memory);
    if (judge_state.truth.flight > SHADOW_IN_FLIGHT) {
        judge_postponed();
    }
    if (executed.kind == INSTRUCTION_RETURN && returned.slot == before.sp) {
        note_return(&returned);
    } else if (executed.kind == INSTRUCTION_CALL && shadow_top(&judge_state.truth) != NULL &&
               shadow_top(&judge_state.truth)->callee == machine_pc(&tracee_the.now)) {
        shadow_mark(&judge_state.truth, judge_state.news);
        return run_if_quiet(*shadow_top(&judge_state.truth));
    }
    return TRACEE_STEPPED;
}

/* Enough: what has been seen so far is reported. */
static void on_interrupt(int signal)
{
    (void)signal;
    kill(tracee_the.pid, SIGKILL);
}

static bool step_program(void)
{
    while (options.max_steps == 0 || steps < options.max_steps) {
        shadow_point before = here();
        int signal = tracee_the.signal;
        place where = places_find(tracee_the.pid, before.pc);
        place_record *record = places_record(where);
        learn_instruction(record, places_is_file(where));
        if (judge_state.shared->ready != 0) {
            record->visits++;
            if (is_due(record) && signal == 0 && !judge_here(record)) {
                return false;
            }
        }
        machine_step executed = record->instruction;
        uint64_t system_call = machine_call_number(&tracee_the.now);
        signal = tracee_the.signal;
        tracee_event event = tracee_step();
        steps++;
        if (event == TRACEE_SIGNAL && here().pc == before.pc && here().sp == before.sp) {
            continue; /* nothing was executed */
        }
        if (event == TRACEE_STEPPED || event == TRACEE_SIGNAL) {
            event = run_if_slow(follow(executed, system_call, before, signal));
        }
        if (event == TRACEE_EXEC) {
            begin_program();
        } else if (event == TRACEE_GONE) {
            return true;
        }
    }
    tracee_kill();
    return true;
}

/* ---- the program ---- */

static compare_shared *make_shared(char *path)
{
    int fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, sizeof(compare_shared)) != 0) {
        perror("compare: the shared file");
        exit(2);
    }
    void *made = mmap(NULL, sizeof(compare_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (made == MAP_FAILED) {
        perror("compare: the shared file");
        exit(2);
    }
    return made;
}

static void usage(void)
{
    fputs("usage: unwind_stepper --agent FILE [--known FILE] [--least PERCENT] [--append FILE]\n"
          "                      [--steps N] [--all | --sparse] [--from-entry] -- COMMAND...\n"
          "  --agent FILE     unwind_agent.so\n"
          "  --known FILE     the classes of disagreement that are explained\n"
          "  --least PERCENT  of PCs that have to agree, else the status is 1\n"
          "  --append FILE    one line more for each PC: module, address, whether it was wrong\n"
          "  --steps N        kills the program after so many steps\n"
          "  --all            steps through everything, however often it was seen\n"
          "  --sparse         compares first visits alone, and leaves loops that were seen\n"
          "  --from-entry     not the loader and the constructors, only what follows\n",
          stderr);
    exit(2);
}

static void read_options(int argc, char **argv)
{
    static const struct option table[] = {
        {"agent", required_argument, NULL, 'a'},
        {"known", required_argument, NULL, 'k'},
        {"least", required_argument, NULL, 'l'},
        {"steps", required_argument, NULL, 's'},
        {"append", required_argument, NULL, 'p'},
        {"all", no_argument, NULL, 'A'},
        {"from-entry", no_argument, NULL, 'e'},
        {"sparse", no_argument, NULL, 'S'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;
    while ((option = getopt_long(argc, argv, "+", table, NULL)) != -1) {
        switch (option) {
        case 'a':
            options.agent = optarg;
            break;
        case 'k':
            options.known = optarg;
            break;
        case 'l':
            options.least = strtod(optarg, NULL);
            break;
        case 'p':
            options.append = optarg;
            break;
        case 's':
            options.max_steps = strtoull(optarg, NULL, 10);
            break;
        case 'A':
            options.all = true;
            break;
        case 'S':
            options.sparse = true;
            judge_state.first_visits = 1;
            break;
        case 'e':
            options.from_entry = true;
            break;
        default:
            usage();
        }
    }
    if (options.agent == NULL || optind >= argc) {
        usage();
    }
}

static int report(double seconds)
{
    double agreed = report_modules(stdout);
    if (options.append != NULL && !report_append(options.append)) {
        fprintf(stderr, "compare: cannot write to %s\n", options.append);
    }
    printf("\n%llu steps in %.0f s; %lu returns to other places than were pushed, "
           "%lu switches of stack; the program's status is 0x%x\n\n",
           steps, seconds, judge_state.truth.odd_returns, judge_state.truth.stack_switches,
           (unsigned)tracee_the.exit_status);
    unsigned unexplained = classes_report(stdout);
    if (unexplained > 0) {
        printf("\n%u classes are not explained\n", unexplained);
    }
    if (agreed < options.least) {
        printf("\n%.3f %% of the PCs agree, not %.3f %%\n", agreed, options.least);
    }
    return unexplained == 0 && agreed >= options.least ? 0 : 1;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/unwind-compare-XXXXXX";
    struct timespec from;
    struct timespec to;
    read_options(argc, argv);
    if (options.known != NULL && !classes_read_known(options.known)) {
        return 2;
    }
    judge_state.shared = make_shared(path);
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (!tracee_start(argv + optind, options.agent, path)) {
        fprintf(stderr, "compare: %s could not be started under ptrace\n", argv[optind]);
        unlink(path);
        return WIFEXITED(tracee_the.exit_status) ? WEXITSTATUS(tracee_the.exit_status) : 2;
    }
    const struct sigaction stop = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    begin_program();
    bool done = step_program();
    unlink(path);
    clock_gettime(CLOCK_MONOTONIC, &to);
    int status =
        report((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
    return done ? status : 2;
}
