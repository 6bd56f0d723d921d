/* SPDX-License-Identifier: MIT
 *
 * unload.c FOLDER LIBRARIES SECONDS SAMPLES perf|timer PROFILE [stale]: libraries come and go at
 * the same addresses under a 10 kHz profile, and every walk is compared with the one right stack.
 *
 *   4 runners      dlopen a library, pass through its chain of functions many times, dlclose it
 *   2 loaders      dlopen and dlclose, one of them past our hook of dlclose
 *   1 converter    loads and unloads by libc itself: iconv, NSS
 *
 * A library's functions (unload_library.S) call each other in an order that only depends on its
 * number, and where each call returns to is known. So the walk from anywhere in such a function,
 * and pprof_callers() at the end of the chain, have one right result: the rest of the chain, then
 * what libgcc found above it when the thread came by for the first time. Everything else is a wrong
 * stack, except a beginning of the right one whose walk says that it is not whole.
 *
 * A stack that meets no such function (dlopen, constructors, iconv) must end at the thread's start.
 *
 * `stale` shows that wrong stacks would be found: the walk is told that the loader never does
 * anything, so that rules of libraries that are gone stay in use. It ends at the first one.
 *
 * Flags: -Wl,--wrap=pp_walk_from_context,--wrap=pp_loader_epoch
 *
 * Architecture: x86_64
 * Libc: glibc
 */
#include "pprof.h"
#include "modules/loader.h"
#include "unwind/walk.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <iconv.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SLOTS = 13, /* unload_library.S */
    SLOT_BYTES = 256,
    CALL_END = 128,

    RUNNERS = 4,
    LOADERS = 2,
    MAX_LIBRARIES = 64,
    PASSES = 1500,    /* through a chain, for each load: some 2 ms */
    CALLERS_EACH = 8, /* passes to one that calls pprof_callers() */
    MAX_TAIL = 24,
    MAX_RIGHT = SLOTS + 1 + MAX_TAIL,
    MAX_DEPTH = 64,
    SHOWN = 5,
    PLACES = 1 << 12,
    PATIENCE_S = 60 /* for what the storm has to meet, on a busy machine */
};

typedef void end_of_chain(void);
typedef void first_of_chain(end_of_chain *end);

/* Where the calling thread is. The handler reads it. */
typedef struct place {
    volatile uintptr_t code; /* of the library that is loaded, 0: none */
    volatile unsigned library;
    uintptr_t tail[MAX_TAIL]; /* the frames above storm_call(), from libgcc */
    volatile unsigned tail_depth;
    volatile uintptr_t root; /* the outermost frame, 0: not known yet */
    unsigned passes;
} place;

static __thread place here __attribute__((tls_model("initial-exec")));

static const char *folder;
static unsigned libraries;
static bool stale;
static atomic_bool stop, checking;
static unsigned long loads, reuses;

/* glibc's, in no header. */
int nss_configure_lookup(const char *database,
                         const char *services) __asm__("__nss_configure_lookup");

/* ---- the way into a library ---- */

/* storm_call(first, end): first(end). What it calls returns to storm_returns. */
void storm_call(first_of_chain *first, end_of_chain *end);
extern const char storm_returns[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".type storm_call, @function\n"
        ".globl storm_call\n"
        "storm_call:\n"
        ".cfi_startproc\n"
        "subq $8, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "movq %rdi, %rax\n"
        "movq %rsi, %rdi\n"
        "call *%rax\n"
        ".globl storm_returns\n"
        ".hidden storm_returns\n"
        "storm_returns:\n"
        "addq $8, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size storm_call, . - storm_call\n");

/* ---- the right stack ---- */

static unsigned slot_at(unsigned position)
{
    return (here.library + position * (1 + here.library % (SLOTS - 1))) % SLOTS;
}

static unsigned position_of(unsigned slot)
{
    unsigned position = 0;
    while (slot_at(position) != slot) {
        position++;
    }
    return position;
}

/* The return addresses that the function at `position` of the chain has above it. */
static unsigned right_callers(unsigned position, uintptr_t *right)
{
    unsigned depth = 0;
    while (position-- > 0) {
        right[depth++] = here.code + slot_at(position) * SLOT_BYTES + CALL_END;
    }
    right[depth++] = (uintptr_t)storm_returns;
    for (unsigned i = 0; i < here.tail_depth; i++) {
        right[depth++] = here.tail[i];
    }
    return depth;
}

/* The slot that a frame lies in; -1 if it is none, or not where a frame of this sort can be. */
static int slot_of(uintptr_t frame, bool leaf)
{
    uintptr_t offset = frame - 1 - here.code;
    if (here.code == 0 || offset >= SLOTS * SLOT_BYTES) {
        return -1;
    }
    return leaf || (offset + 1) % SLOT_BYTES == CALL_END ? (int)(offset / SLOT_BYTES) : -1;
}

/* ---- verdicts ---- */

typedef enum kind { IN_LIBRARY, ELSEWHERE, CALLERS, KINDS } kind;

typedef struct tally {
    unsigned long walks, wrong, guessed, short_of[PP_STOP_COUNT];
} tally;

static tally tallies[KINDS];
static const char *const kind_names[] = {"leaf in a library", "leaf elsewhere", "pprof_callers"};

/* The first wrong ones, as they were. */
typedef struct example {
    unsigned library, found, right;
    kind kind;
    pp_stop stop;
    uintptr_t code, found_pcs[MAX_DEPTH], right_pcs[MAX_RIGHT];
} example;

static example examples[SHOWN];
static unsigned example_count;

static void keep_example(kind k, const pp_walk *walk, const uintptr_t *right, unsigned depth)
{
    unsigned i = __atomic_fetch_add(&example_count, 1, __ATOMIC_RELAXED);
    if (i < SHOWN) {
        example *e = &examples[i];
        *e = (example){.library = here.library,
                       .found = walk->depth < MAX_DEPTH ? walk->depth : MAX_DEPTH,
                       .right = depth,
                       .kind = k,
                       .stop = walk->stop,
                       .code = here.code};
        memcpy(e->found_pcs, walk->pcs, e->found * sizeof *walk->pcs);
        memcpy(e->right_pcs, right, depth * sizeof *right);
    }
}

static void count(unsigned long *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void judge(kind k, const pp_walk *walk, bool good, const uintptr_t *right, unsigned depth)
{
    tally *t = &tallies[k];
    count(&t->walks);
    if (!good) {
        count(&t->wrong);
        keep_example(k, walk, right, depth);
    } else if (walk->stop != PP_STOP_END) {
        count(&t->short_of[walk->stop]);
    } else if (walk->guessed) {
        count(&t->guessed);
    }
}

static bool is_the_end_of(const pp_walk *walk, unsigned from, const uintptr_t *right,
                          unsigned depth)
{
    unsigned frames = walk->depth - from;
    if (frames > depth || memcmp(walk->pcs + from, right, frames * sizeof *right) != 0) {
        return false;
    }
    return walk->stop == PP_STOP_END ? frames == depth : true;
}

static void check_sample(const pp_walk *walk)
{
    uintptr_t right[MAX_RIGHT];
    for (unsigned i = 0; i < walk->depth && here.tail_depth > 0; i++) {
        int slot = slot_of(walk->pcs[i], i == 0);
        if (slot >= 0) {
            unsigned position = position_of((unsigned)slot);
            unsigned depth = right_callers(position, right);
            bool good =
                (i == 0 || position == SLOTS - 1) && is_the_end_of(walk, i + 1, right, depth);
            judge(i == 0 ? IN_LIBRARY : ELSEWHERE, walk, good, right, depth);
            return;
        }
    }
    if (here.root != 0) {
        right[0] = here.root;
        bool good = walk->stop != PP_STOP_END ||
                    (walk->depth > 0 && walk->pcs[walk->depth - 1] == right[0]);
        judge(ELSEWHERE, walk, good, right, 1);
    }
}

/* The names that the linker's --wrap gives to what is replaced, and to what replaces it. */
void real_walk(const void *context, pp_walk *walk) __asm__("__real_pp_walk_from_context");
void checked_walk(const void *context, pp_walk *walk) __asm__("__wrap_pp_walk_from_context");
uint64_t real_epoch(void) __asm__("__real_pp_loader_epoch");
uint64_t epoch_or_none(void) __asm__("__wrap_pp_loader_epoch");

void checked_walk(const void *context, pp_walk *walk)
{
    real_walk(context, walk);
    if (checking) {
        check_sample(walk);
    }
}

uint64_t epoch_or_none(void)
{
    return stale ? 1 : real_epoch();
}

/* ---- the end of the chain ---- */

/* The return addresses above the caller's, by libgcc. */
static void learn_tail(void)
{
    void *frames[SLOTS + MAX_TAIL + 4];
    uintptr_t right[MAX_RIGHT];
    int found = backtrace(frames, (int)(sizeof frames / sizeof *frames));
    unsigned depth = right_callers(SLOTS, right); /* no tail yet: up to storm_returns */
    int i = 0;
    while (i < found && (uintptr_t)frames[i] != right[0]) {
        i++;
    }
    if (found - i <= (int)depth || memcmp(frames + i, right, depth * sizeof *right) != 0) {
        fprintf(stderr, "unload: libgcc finds another chain in library %u\n", here.library);
        exit(2);
    }
    unsigned tail = 0;
    for (i += (int)depth; i < found && tail < MAX_TAIL; i++) {
        here.tail[tail++] = (uintptr_t)frames[i];
    }
    here.tail_depth = tail;
}

static void check_callers(void)
{
    uintptr_t pcs[MAX_DEPTH];
    uintptr_t right[MAX_RIGHT];
    pp_walk walk = {.pcs = pcs, .stop = PP_STOP_END};
    walk.depth = (uint32_t)pprof_callers(1, pcs, MAX_DEPTH); /* 0 is the function below */
    unsigned depth = right_callers(SLOTS, right);
    judge(CALLERS, &walk, is_the_end_of(&walk, 1, right, depth), right, depth);
}

static __attribute__((noinline)) void at_end_of_chain(void)
{
    if (here.tail_depth == 0) {
        learn_tail();
    }
    if (here.passes++ % CALLERS_EACH == 0 && checking) {
        check_callers();
        __asm__ volatile(""); /* not a tail call */
    }
}

/* ---- threads ---- */

static void learn_root(void)
{
    void *frames[MAX_DEPTH];
    int found = backtrace(frames, MAX_DEPTH);
    here.root = found > 0 ? (uintptr_t)frames[found - 1] : 0;
}

static void *open_library(unsigned number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib%u.so", folder, number);
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "unload: %s\n", dlerror());
        exit(2);
    }
    count(&loads);
    return library;
}

/* Counts libraries at an address where another one was before. */
static void note_place(uintptr_t code, unsigned library)
{
    static struct {
        uintptr_t code;
        unsigned library;
    } places[PLACES];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    unsigned at = (code >> 12) % PLACES;
    pthread_mutex_lock(&lock);
    reuses += places[at].code == code && places[at].library != library;
    places[at].code = code;
    places[at].library = library;
    pthread_mutex_unlock(&lock);
}

static unsigned draw(unsigned *state, unsigned limit)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 16) % limit;
}

static void *run_libraries(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    learn_root();
    while (!stop) {
        unsigned number = draw(&state, libraries);
        void *library = open_library(number);
        uintptr_t code = (uintptr_t)dlsym(library, "storm_code");
        note_place(code, number);
        here.library = number;
        here.code = code;
        first_of_chain *first = (first_of_chain *)(code + slot_at(0) * SLOT_BYTES);
        for (int i = 0; i < PASSES && !stop; i++) {
            storm_call(first, at_end_of_chain);
        }
        here.code = 0;
        dlclose(library);
    }
    return NULL;
}

static void *load_only(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    int (*close_library)(void *) = dlclose;
    if ((uintptr_t)seed % 2 == 0) {
        *(void **)&close_library = dlsym(RTLD_NEXT, "dlclose"); /* as libc's own unloads */
    }
    learn_root();
    while (!stop) {
        void *first = open_library(draw(&state, libraries));
        void *second = open_library(draw(&state, libraries));
        close_library(first);
        close_library(second);
    }
    return NULL;
}

static void *convert(void *unused)
{
    static const char *const sets[] = {"UTF-16",    "ISO-8859-15", "EUC-JP", "KOI8-R", "BIG5",
                                       "SHIFT_JIS", "CP1252",      "GBK",    "IBM850", "UTF-7"};
    learn_root();
    nss_configure_lookup("passwd", "compat files");
    nss_configure_lookup("hosts", "files dns");
    struct passwd entry;
    struct passwd *found = NULL;
    char text[1024];
    (void)getpwnam_r("nobody", &entry, text, sizeof text, &found);
    (void)gethostbyname("localhost");
    for (unsigned i = 0; !stop; i++) {
        iconv_t converter = iconv_open(sets[i % (sizeof sets / sizeof *sets)], "UTF-8");
        char in[] = "abcdefgh";
        char out[64];
        char *from = in;
        char *to = out;
        size_t left = sizeof in - 1;
        size_t room = sizeof out;
        if (converter != (iconv_t)-1) {
            iconv(converter, &from, &left, &to, &room);
            iconv_close(converter);
            count(&loads);
        }
    }
    return unused;
}

/* ---- the storm ---- */

static unsigned long sum(size_t field)
{
    unsigned long total = 0;
    for (int k = 0; k < KINDS; k++) {
        total += __atomic_load_n((unsigned long *)((char *)&tallies[k] + field), __ATOMIC_RELAXED);
    }
    return total;
}

static bool has_met_enough(unsigned long walks)
{
    return stale ? sum(offsetof(tally, wrong)) > 0
                 : __atomic_load_n(&tallies[IN_LIBRARY].walks, __ATOMIC_RELAXED) >= walks;
}

/* At least so long, and until so many samples were taken in libraries. */
static void wait_for_samples(long seconds, unsigned long walks)
{
    const struct timespec step = {.tv_nsec = 50 * 1000 * 1000};
    time_t start = time(NULL);
    time_t passed = 0;
    while (passed < seconds || (!has_met_enough(walks) && passed < seconds + PATIENCE_S)) {
        nanosleep(&step, NULL);
        passed = time(NULL) - start;
    }
}

static void storm(long seconds, unsigned long walks)
{
    pthread_t threads[RUNNERS + LOADERS + 1];
    unsigned started = 0;
    checking = true;
    for (uintptr_t i = 0; i < RUNNERS; i++) {
        pthread_create(&threads[started++], NULL, run_libraries, (void *)(i + 1));
    }
    for (uintptr_t i = 0; i < LOADERS; i++) {
        pthread_create(&threads[started++], NULL, load_only, (void *)(i + 101));
    }
    pthread_create(&threads[started++], NULL, convert, NULL);
    wait_for_samples(seconds, walks);
    stop = true;
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    checking = false;
}

/* ---- report ---- */

static void print_frame(const char *what, uintptr_t pc, uintptr_t code)
{
    Dl_info where;
    if (pc - code < (SLOTS + 2) * SLOT_BYTES) {
        printf("    %s %#lx  slot %lu + %lu\n", what, (unsigned long)pc,
               (unsigned long)(pc - code) / SLOT_BYTES, (unsigned long)(pc - code) % SLOT_BYTES);
    } else if (dladdr((void *)(pc - 1), &where) != 0) {
        printf("    %s %#lx  %s\n", what, (unsigned long)pc,
               where.dli_sname != NULL ? where.dli_sname : where.dli_fname);
    } else {
        printf("    %s %#lx\n", what, (unsigned long)pc);
    }
}

static void print_examples(void)
{
    for (unsigned i = 0; i < example_count && i < SHOWN; i++) {
        const example *e = &examples[i];
        printf("  wrong: %s, library %u at %#lx, stop %d\n", kind_names[e->kind], e->library,
               (unsigned long)e->code, e->stop);
        for (unsigned j = 0; j < e->found; j++) {
            print_frame("found", e->found_pcs[j], e->code);
        }
        for (unsigned j = 0; j < e->right; j++) {
            print_frame("right", e->right_pcs[j], e->code);
        }
    }
}

/* "KIND: 1200 walks, 0 wrong, 0 guessed; not whole: 0 truncated, 1 no_rule, 0 bad_read" */
static unsigned long report(void)
{
    printf("%lu loads, %lu of the runners' where another library was before\n", loads, reuses);
    for (int k = 0; k < KINDS; k++) {
        const tally *t = &tallies[k];
        printf("%s: %lu walks, %lu wrong, %lu guessed; not whole: %lu truncated, %lu no_rule, "
               "%lu bad_read\n",
               kind_names[k], t->walks, t->wrong, t->guessed, t->short_of[PP_STOP_TRUNCATED],
               t->short_of[PP_STOP_NO_RULE], t->short_of[PP_STOP_BAD_READ]);
    }
    print_examples();
    return sum(offsetof(tally, wrong));
}

int main(int argc, char **argv)
{
    if (argc < 7) {
        fprintf(stderr,
                "usage: unload FOLDER LIBRARIES SECONDS SAMPLES perf|timer PROFILE [stale]\n");
        return 2;
    }
    folder = argv[1];
    libraries = (unsigned)strtoul(argv[2], NULL, 10);
    stale = argc > 7 && strcmp(argv[7], "stale") == 0;
    int fd = open(argv[6], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    pprof_cpu_options options = {.size = sizeof options, .hz = 10000};
    options.engine = strcmp(argv[5], "perf") == 0 ? PPROF_ENGINE_PERF : PPROF_ENGINE_TIMER;
    learn_root(); /* backtrace() loads libgcc at its first call */
    if (libraries < 1 || libraries > MAX_LIBRARIES || fd < 0 ||
        pprof_start_cpu_profile_opts(pprof_writer_fd(fd), &options) != 0) {
        fprintf(stderr, "unload: cannot start\n");
        return 2;
    }
    storm(strtol(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    if (pprof_stop_cpu_profile() != 0) {
        fprintf(stderr, "unload: cannot write the profile\n");
        return 2;
    }
    return report() == 0 ? 0 : 1;
}
