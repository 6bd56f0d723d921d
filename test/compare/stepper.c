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
 * An instruction is compared at its first three visits and at every power of two from there on.
 * What "agree" means stands in shadow.h. Code that has been stepped through often without a first
 * visit is then run at full speed, from a call to its return, but for every 32nd time (--all: it is
 * not); a single step costs a few microseconds, under a hypervisor up to 30.
 *
 * Exit status: 0 if the program ended, the share of agreeing PCs is --least and every class of
 * disagreement is known; 1 if not; 2 if something does not work; 77 if ptrace(2) is refused.
 *
 * Zone: tests.
 * Locks: none.
 * Owns: nothing.
 */
#include "classes.h"
#include "places.h"
#include "report.h"
#include "second_opinion.h"
#include "shadow.h"
#include "tracee.h"

#include <fcntl.h>
#include <getopt.h>
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
    FIRST_VISITS = 3,
    QUIET_CALLS = 10,         /* without a first visit, before a function is run at full speed */
    QUIET_CALLS_AT_START = 2, /* the same while there is no agent yet */
    STEPPED_ANYWAY = 32,      /* one of so many calls */
    SECOND_SAMPLE = 16,       /* libunwind is asked at one of so many new PCs */
    SECOND_PER_PLACE = 8,     /* and so often at most at a PC where we are wrong */
    MAX_POSTPONED = 256,
    LANDING = 1,     /* its place in the chain of what was in flight */
    BELOW_SP = 1024, /* the red zone and a little of what a signal frame takes */
    ROOM_FOR_HANDLER = 16384,
    TEXT_SIZE = 4096,
    FRAMES_SHOWN = 3
};

static struct {
    const char *agent, *known;
    double least;
    unsigned long long max_steps;
    bool all, from_entry;
} options = {.least = 0};

/* A walk whose truth is known only when the flight lands. */
typedef struct postponed_walk {
    uint64_t pc;
    compare_answer ours;
    uint64_t callers[COMPARE_DEPTH], second[COMPARE_DEPTH];
    size_t callers_depth, second_depth;
    bool whole;
} postponed_walk;

static compare_shared *shared;
static shadow truth;
static postponed_walk postponed[MAX_POSTPONED];
static unsigned postponed_count;
static unsigned long long steps, run_calls, news;

static bool stack_bounds(uint64_t sp, uint64_t *lo, uint64_t *hi)
{
    return places_mapping(tracee_the.pid, sp, lo, hi);
}

static const shadow_memory memory = {tracee_read_word, stack_bounds};

static shadow_point here(void)
{
    return (shadow_point){tracee_the.now.rip, tracee_the.now.rsp};
}

/* ---- examples ---- */

static void add_frames(char *text, size_t room, const char *whose, const uint64_t *pcs,
                       size_t depth, size_t at)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, room - used, "      %-10s", whose);
    for (size_t i = at > 1 ? at - 2 : 0; i < at + FRAMES_SHOWN && used + 256 < room; i++) {
        if (i >= depth) {
            used += (size_t)snprintf(text + used, room - used, " [%zu] end", i);
            break;
        }
        uint64_t offset = 0;
        place where = places_find(tracee_the.pid, pcs[i] - 1);
        const char *path = places_module(where.module)->path;
        const char *slash = strrchr(path, '/');
        const char *symbol = places_symbol(where, &offset);
        used +=
            (size_t)snprintf(text + used, room - used, " [%zu] %.40s:0x%lx", i,
                             slash != NULL ? slash + 1 : path, (unsigned long)where.address + 1);
        if (symbol[0] != '\0') {
            used += (size_t)snprintf(text + used, room - used, " %.60s+%lu", symbol,
                                     (unsigned long)offset + 1);
        }
    }
    snprintf(text + used, room - used, "\n");
}

static const char *example(const compare_answer *ours, const chain *right, const chain *second,
                           size_t at)
{
    static char text[TEXT_SIZE];
    char whose[32];
    text[0] = '\0';
    add_frames(text, sizeof text, "machine", right->pcs, right->depth, at);
    snprintf(whose, sizeof whose, "ours(%u)", ours->stop);
    add_frames(text, sizeof text, whose, ours->pcs, ours->depth, at);
    if (second->depth > 0) {
        add_frames(text, sizeof text, "libunwind", second->pcs, second->depth, at);
    }
    return text;
}

/* ---- comparisons ---- */

/* On the program's own stack if there is room, like a signal's handler. */
static bool ask_agent(uint64_t ways)
{
    const uint64_t elsewhere = 1u << COMPARE_ELSEWHERE;
    uint64_t sp = tracee_the.now.rsp;
    uint64_t lo = 0;
    uint64_t hi = 0;
    uint64_t at = shared->stack_top;
    if (stack_bounds(sp, &lo, &hi) && sp - lo >= ROOM_FOR_HANDLER) {
        at = (sp - BELOW_SP) & ~UINT64_C(15);
    }
    return tracee_ask(shared, ways & ~elsewhere, at) &&
           (!(ways & elsewhere) || tracee_ask(shared, elsewhere, shared->stack_top));
}

/* The loader tells of a library when it has relocated it; resolvers of IFUNCs run before that. */
static bool is_in_no_module(uint64_t pc)
{
    shared->place = pc;
    bool answered = ask_agent(0);
    shared->place = 0;
    return answered && shared->place_is_known == 0;
}

static void note(place_record *record, disagreement kind, const compare_answer *ours,
                 const chain *right, const chain *second, size_t at)
{
    uint64_t culprit = at > 0 ? right->pcs[at - 1] - 1 : right->pcs[0] - 1;
    opinion said = kind == OTHER_STOP || kind == WAYS_DIFFER
                       ? OPINION_NONE
                       : classes_opinion(second, ours, right, at);
    place where = places_find(tracee_the.pid, culprit);
    if (places_is_file(where) && is_in_no_module(culprit)) {
        kind = IN_NO_MODULE;
    } else if (truth.flight == SHADOW_LANDED && at == LANDING + 1) {
        kind = AT_A_LANDING;
    }
    unsigned number = classes_note(where, kind, said);
    if (classes_example(number) == NULL) {
        classes_set_example(number, example(ours, right, second, at));
    }
    record->disagreed++;
    if (record->first_class == 0) {
        record->first_class = number + 1;
    }
}

static void judge(place_record *record, const compare_answer *ours, const chain *right,
                  const chain *second)
{
    size_t at = 0;
    disagreement kind = classes_compare(ours, right, &at);
    record->compared++;
    record->guessed |= ours->guessed != 0;
    if (kind != AGREED) {
        note(record, kind, ours, right, second, at);
    }
    if (second->depth > 0 && record->second_asked < UINT8_MAX) {
        compare_answer theirs = {.depth = (uint32_t)second->depth};
        memcpy(theirs.pcs, second->pcs, second->depth * sizeof *second->pcs);
        disagreement theirs_kind = classes_compare(&theirs, right, &at);
        record->second_asked++;
        if (theirs_kind == AGREED || theirs_kind == OTHER_STOP) {
            record->second_agreed++;
        }
    }
}

static bool same_answer(const compare_answer *a, const compare_answer *b)
{
    return a->depth == b->depth && a->stop == b->stop && a->guessed == b->guessed &&
           a->hash == b->hash && memcmp(a->pcs, b->pcs, a->depth * sizeof *a->pcs) == 0;
}

/* All ways to walk give the same; the one from the caller has all but the leaf. */
static void judge_ways(place_record *record, uint64_t ways, const chain *right)
{
    const compare_answer *warm = &shared->answer[COMPARE_WARM];
    const chain first = {warm->pcs, warm->depth, true};
    const chain none = {0};
    size_t at = 0;
    for (unsigned way = COMPARE_AGAIN; way < COMPARE_WAYS; way++) {
        if (way != COMPARE_FROM_CALLER && (ways >> way & 1) &&
            !same_answer(&shared->answer[way], warm)) {
            classes_compare(&shared->answer[way], &first, &at);
            note(record, WAYS_DIFFER, &shared->answer[way], &first, &none, at);
        }
    }
    if (ways >> COMPARE_FROM_CALLER & 1) {
        const compare_answer *ours = &shared->answer[COMPARE_FROM_CALLER];
        const chain callers = {right->pcs + 1, right->depth - 1, right->whole};
        disagreement kind = classes_compare(ours, &callers, &at);
        if (kind != AGREED) {
            note(record, kind, ours, &callers, &none, at);
        }
    }
}

/* The chain from the leaf on, at an instruction that is not in flight. */
static chain chain_here(const place_record *record, uint64_t pcs[COMPARE_DEPTH])
{
    chain right = {.pcs = pcs};
    uint64_t word = 0;
    const shadow_entry *top = shadow_top(&truth);
    pcs[0] = tracee_the.now.rip + 1;
    size_t from = 1;
    if (record->instruction.kind == INSTRUCTION_RETURN &&
        (top == NULL || top->slot != tracee_the.now.rsp) &&
        tracee_read_word(tracee_the.now.rsp, &word)) {
        pcs[from++] = word; /* a jump, by a return to what was pushed by hand */
    }
    right.depth = from + shadow_callers(&truth, pcs + from, COMPARE_DEPTH - from, &right.whole);
    if (record->instruction.kind == INSTRUCTION_RETURN && from == 1 && right.depth > 1 &&
        tracee_read_word(tracee_the.now.rsp, &word)) {
        pcs[1] = word; /* the same as was pushed, nearly always */
    }
    return right;
}

static uint64_t ways_wanted(const place_record *record)
{
    uint64_t ways = 1u << COMPARE_WARM;
    const shadow_entry *top = shadow_top(&truth);
    if (record->compared < FIRST_VISITS) {
        ways |= 1u << COMPARE_AGAIN | 1u << COMPARE_WITHOUT_MEMO | 1u << COMPARE_ELSEWHERE;
    }
    if (record->compared == 0) {
        ways |= 1u << COMPARE_COLD;
    }
    if (top != NULL && !top->interrupted && top->slot == tracee_the.now.rsp &&
        truth.flight != SHADOW_IN_FLIGHT && record->instruction.kind != INSTRUCTION_RETURN) {
        ways |= 1u << COMPARE_FROM_CALLER;
    }
    return ways;
}

static void postpone(const compare_answer *ours, const uint64_t *second, size_t second_depth)
{
    if (postponed_count < MAX_POSTPONED) {
        postponed_walk *p = &postponed[postponed_count++];
        p->pc = tracee_the.now.rip;
        p->ours = *ours;
        p->callers_depth = shadow_callers(&truth, p->callers, COMPARE_DEPTH, &p->whole);
        p->second_depth = second_depth;
        memcpy(p->second, second, second_depth * sizeof *second);
    }
}

/* Walks at the instruction that the program has stopped at, and compares. */
static bool compare_here(place_record *record)
{
    static uint64_t right_pcs[COMPARE_DEPTH];
    static uint64_t second_pcs[COMPARE_DEPTH];
    const compare_answer *ours = &shared->answer[COMPARE_WARM];
    uint64_t ways = ways_wanted(record);
    bool in_flight = truth.flight == SHADOW_IN_FLIGHT;
    size_t at = 0;
    news += record->compared < FIRST_VISITS;
    if (!ask_agent(ways)) {
        return false;
    }
    chain right = chain_here(record, right_pcs);
    chain second = {second_pcs, 0, false};
    bool asked = record->compared == 0 && tracee_the.now.rip * 2654435761u % SECOND_SAMPLE == 0;
    bool wrong = in_flight || classes_compare(ours, &right, &at) != AGREED;
    if (asked || (wrong && record->second_asked < SECOND_PER_PLACE)) {
        second.depth =
            second_opinion_walk(tracee_the.pid, &tracee_the.now, second_pcs, COMPARE_DEPTH);
    }
    judge_ways(record, ways, &right);
    if (in_flight) {
        postpone(ours, second_pcs, second.depth);
    } else {
        judge(record, ours, &right, &second);
    }
    return true;
}

/* The flight is over: what was in flight is judged by where it landed. */
static void judge_postponed(void)
{
    static uint64_t pcs[COMPARE_DEPTH + 2];
    for (unsigned i = 0; i < postponed_count; i++) {
        postponed_walk *p = &postponed[i];
        chain right = {.pcs = pcs};
        chain second = {p->second, p->second_depth, false};
        size_t from = 1;
        pcs[0] = p->pc + 1;
        if (truth.flight == SHADOW_ABANDONED) {
            memcpy(pcs + from, p->callers, p->callers_depth * sizeof *pcs);
            right.depth = from + p->callers_depth;
            right.whole = p->whole;
        } else {
            if (truth.flight == SHADOW_LANDED) {
                pcs[from++] = truth.landing;
            }
            right.depth =
                from + shadow_callers(&truth, pcs + from, COMPARE_DEPTH - from, &right.whole);
        }
        judge(places_record(places_find(tracee_the.pid, p->pc)), &p->ours, &right, &second);
    }
    postponed_count = 0;
    truth.flight = SHADOW_GROUNDED;
}

/* ---- stepping ---- */

static bool is_due(const place_record *record)
{
    return record->visits <= FIRST_VISITS || (record->visits & (record->visits - 1)) == 0;
}

static void learn_instruction(place_record *record, bool in_file)
{
    uint8_t code[INSTRUCTION_MAX] = {0};
    if (!record->known || !in_file) {
        tracee_read(tracee_the.now.rip, code, sizeof code);
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
    uint64_t sp = tracee_the.now.rsp;
    if (signal == 0 || (int)tracee_the.now.rdi != signal || !tracee_read_word(sp, restorer) ||
        tracee_read(sp + sizeof(uint64_t), &context, offsetof(ucontext_t, __fpregs_mem)) <
            offsetof(ucontext_t, uc_sigmask) ||
        (uint64_t)context.uc_mcontext.gregs[REG_RSP] != sp_before) {
        return false;
    }
    *point = (shadow_point){(uint64_t)context.uc_mcontext.gregs[REG_RIP], sp_before};
    return true;
}

static void begin_program(void)
{
    uint64_t lo = 0;
    uint64_t hi = 0;
    places_stale();
    second_opinion_forget();
    postponed_count = 0;
    memset(shared, 0, sizeof *shared);
    if (options.from_entry) {
        tracee_run_to(tracee_program_entry(), 0);
    }
    stack_bounds(tracee_the.now.rsp, &lo, &hi);
    shadow_begin(&truth, tracee_the.now.rsp, lo, hi);
}

/* A call was just executed: runs the function at full speed if there is nothing new in it. */
static tracee_event run_if_quiet(shadow_entry entry)
{
    place where = places_find(tracee_the.pid, tracee_the.now.rip);
    const place_record *function = places_record(where);
    bool seen = shared->ready == 0
                    ? function->quiet >= QUIET_CALLS_AT_START
                    : function->quiet >= QUIET_CALLS && function->compared >= FIRST_VISITS;
    if (options.all || !seen || ++run_calls % STEPPED_ANYWAY == 0) {
        return TRACEE_STEPPED;
    }
    tracee_event event = tracee_run_to(entry.pc, entry.slot);
    if (event == TRACEE_STEPPED) {
        places_stale();
        second_opinion_forget();
        shadow_resume_at(&truth, tracee_the.now.rsp, &memory);
    }
    return event;
}

static void note_return(const shadow_entry *entry)
{
    if (entry->callee != 0) {
        place_record *function = places_record(places_find(tracee_the.pid, entry->callee));
        bool quiet = entry->mark == news;
        function->quiet = (uint8_t)(!quiet ? 0 : function->quiet + (function->quiet < UINT8_MAX));
    }
}

/* After one step of the machine. */
static tracee_event follow(instruction executed, uint64_t system_call, shadow_point before,
                           int signal)
{
    shadow_point interrupted;
    uint64_t restorer = 0;
    if (entered_handler(signal, before.sp, &interrupted, &restorer)) {
        shadow_signal(&truth, interrupted, here(), restorer, &memory);
        judge_postponed();
        return TRACEE_STEPPED;
    }
    if (executed.kind == INSTRUCTION_SYSTEM_CALL) {
        note_system_call(system_call);
        if (system_call == SYS_rt_sigreturn) {
            shadow_signal_return(&truth, here(), &memory);
            return TRACEE_STEPPED;
        }
    }
    const shadow_entry *top = shadow_top(&truth);
    shadow_entry returned = top != NULL ? *top : (shadow_entry){0};
    shadow_step(&truth, executed, before, here(), &memory);
    if (truth.flight > SHADOW_IN_FLIGHT) {
        judge_postponed();
    }
    if (executed.kind == INSTRUCTION_RETURN && returned.slot == before.sp) {
        note_return(&returned);
    } else if (executed.kind == INSTRUCTION_CALL && shadow_top(&truth) != NULL &&
               shadow_top(&truth)->callee == tracee_the.now.rip) {
        shadow_mark(&truth, news);
        return run_if_quiet(*shadow_top(&truth));
    }
    return TRACEE_STEPPED;
}

static bool step_program(void)
{
    while (options.max_steps == 0 || steps < options.max_steps) {
        shadow_point before = here();
        int signal = tracee_the.signal;
        place where = places_find(tracee_the.pid, before.pc);
        place_record *record = places_record(where);
        learn_instruction(record, places_is_file(where));
        if (shared->ready != 0) {
            record->visits++;
            if (is_due(record) && signal == 0 && !compare_here(record)) {
                return false;
            }
        }
        instruction executed = record->instruction;
        uint64_t system_call = tracee_the.now.rax;
        signal = tracee_the.signal;
        tracee_event event = tracee_step();
        steps++;
        if (event == TRACEE_SIGNAL && here().pc == before.pc && here().sp == before.sp) {
            continue; /* nothing was executed */
        }
        if (event == TRACEE_STEPPED || event == TRACEE_SIGNAL) {
            event = follow(executed, system_call, before, signal);
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
    fputs("usage: unwind_stepper --agent FILE [--known FILE] [--least PERCENT] [--steps N]\n"
          "                      [--all] [--from-entry] -- COMMAND...\n"
          "  --agent FILE     unwind_agent.so\n"
          "  --known FILE     the classes of disagreement that are explained\n"
          "  --least PERCENT  of PCs that have to agree, else the status is 1\n"
          "  --steps N        kills the program after so many steps\n"
          "  --all            steps through everything, however often it was seen\n"
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
        {"all", no_argument, NULL, 'A'},
        {"from-entry", no_argument, NULL, 'e'},
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
        case 's':
            options.max_steps = strtoull(optarg, NULL, 10);
            break;
        case 'A':
            options.all = true;
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
    printf("\n%llu steps in %.0f s; %lu returns to other places than were pushed, "
           "%lu switches of stack; the program's status is 0x%x\n\n",
           steps, seconds, truth.odd_returns, truth.stack_switches,
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
    shared = make_shared(path);
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (!tracee_start(argv + optind, options.agent, path)) {
        fprintf(stderr, "compare: %s could not be started under ptrace\n", argv[optind]);
        unlink(path);
        return WIFEXITED(tracee_the.exit_status) ? WEXITSTATUS(tracee_the.exit_status) : 2;
    }
    begin_program();
    bool done = step_program();
    unlink(path);
    clock_gettime(CLOCK_MONOTONIC, &to);
    int status =
        report((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
    return done ? status : 2;
}
