/* SPDX-License-Identifier: MIT
 *
 * heap_kind.c: the kind "heap": the profiles heap, allocs, peak, leak, lifetime and
 * memory.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: the files; the options and flags of the kind.
 * Tested by: unit.options, e2e.heap, e2e.flags
 */
#include "base/text.h"
#include "host/kind.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_ages.h"
#include "kinds/heap/heap_collect.h"
#include "kinds/heap/heap_cycles.h"
#include "kinds/heap/heap_early.h"
#include "kinds/heap/heap_mappings.h"
#include "kinds/heap/heap_peak.h"
#include "kinds/heap/heap_profile.h"
#include "kinds/heap/jemalloc_find.h"
#include "kinds/heap/leak_doubts.h"
#include "kinds/heap/leak_profile.h"
#include "kinds/heap/leak_search.h"
#include "kinds/heap/legacy_heap.h"
#include "kinds/heap/lifetime_profile.h"
#include "kinds/heap/lifetimes.h"
#include "kinds/heap/live_table.h"
#include "kinds/heap/memory_probes.h"
#include "kinds/heap/memory_profile.h"
#include "modules/code_query.h"
#include "modules/late.h"
#include "modules/linked.h"
#include "modules/modules.h"
#include "modules/own_code.h"
#include "output/output.h"
#include "output/prepare.h"
#include "output/word_values.h"
#include "sys/log.h"
#include "sys/own_work.h"
#include "sys/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int64_t rate;     /* that is asked for */
    bool has_rate;    /* a word or a flag has asked for it */
    bool no_jemalloc; /* its hooks are not wanted */
    bool by_age;      /* the same */
    bool probes;      /* are asked for, until the start */
    struct {
        const char *file;
        int64_t rate;
    } flagged;        /* the values of the flags, until they are taken */
    bool was_started; /* start() was called */
} state = {.rate = PP_HEAP_RATE_DEFAULT};

/* Places in `profiles`. */
enum { LEAK_PROFILE = 3, LIFETIME_PROFILE, MEMORY_PROFILE, PROFILES };
static pprof_profile profiles[PROFILES + 1];

/* ---- files ---- */

static int write_view(pp_heap_view view, pprof_writer writer, int debug)
{
    return debug == 0 ? pp_heap_profile_write(view, writer)
                      : pp_legacy_heap_write(debug == PPROF_DEBUG_BARE, writer);
}

static int write_heap(pprof_writer writer, int debug)
{
    return write_view(PP_HEAP_INUSE, writer, debug);
}

static int write_allocs(pprof_writer writer, int debug)
{
    return write_view(PP_HEAP_ALLOCS, writer, debug);
}

static int write_peak(pprof_writer writer, int debug)
{
    return debug == 0 ? pp_heap_profile_write(PP_HEAP_PEAK, writer) : -ENOTSUP;
}

enum { HEAP, ALLOCS, PEAK, LEAK, LIFETIME, MEMORY };
static const char needs_proc[] =
    "it reads /proc/self/maps, smaps and pagemap, which a process that has "
    "changed its root or its limits may not open";

static pp_end_file files[] = {
    {.name = "heap", .write = write_heap},
    {.name = "allocs", .write = write_allocs},
    {.name = "peak", .write = write_peak},
    {.name = "leak", .write = pp_leak_profile_write, .needs = needs_proc},
    {.name = "lifetime", .write = pp_lifetime_profile_write},
    {.name = "memory", .write = pp_memory_profile_write, .needs = needs_proc},
    {.name = NULL}};

/* ---- words and flags ---- */

/* A word without a value leaves the rate that another one has set. */
static bool take_rate(const char *value)
{
    state.has_rate |= value != NULL;
    return value == NULL || pp_heap_rate_of_text(value, strlen(value), &state.rate);
}

static int take_file(const char *value, pp_end_file *file)
{
    if (!take_rate(value)) {
        return -EINVAL;
    }
    file->asked = true;
    return 0;
}

/* The prefix of its functions, or none. */
static int take_jemalloc(const char *value)
{
    if (value == NULL) {
        return -EINVAL;
    }
    state.no_jemalloc = strcmp(value, "none") == 0;
    return state.no_jemalloc || pp_jemalloc_set_prefix(value) ? 0 : -EINVAL;
}

static int take_heap(const char *value)
{
    return take_file(value, &files[HEAP]);
}

static int take_age(const char *value)
{
    return pp_word_alone(value, &state.by_age);
}

/* A profile of sampled blocks alone: without samples there is none. */
static int take_sampled(const char *value, pp_end_file *file)
{
    int64_t rate = 0;
    bool is_none = value != NULL && pp_heap_rate_of_text(value, strlen(value), &rate) && rate == 0;
    return is_none ? -EINVAL : take_file(value, file);
}

static int take_leak(const char *value)
{
    return take_sampled(value, &files[LEAK]);
}

static int take_lifetime(const char *value)
{
    return take_sampled(value, &files[LIFETIME]);
}

static int take_memory(const char *value)
{
    return take_file(value, &files[MEMORY]);
}

/* Tracers are told of samples, of which no file is written. */
static int take_probes(const char *value)
{
    if (!take_rate(value)) {
        return -EINVAL;
    }
    state.probes = true;
    return 0;
}

/* `peak` implies `heap`. */
static int take_peak(const char *value)
{
    files[HEAP].asked |= value == NULL;
    return pp_word_alone(value, &files[PEAK].asked);
}

/* In gperftools, the value is a prefix, followed by a number and ".heap". */
static int take_prefix(const char *value)
{
    enum { MAX_NAME = 4096 };
    static const char suffix[] = ".heap";
    char name[MAX_NAME];
    size_t length = strlen(value);
    files[HEAP].asked = true;
    if (length + sizeof suffix > sizeof name) {
        return -ENAMETOOLONG;
    }
    memcpy(name, value, length + 1);
    memcpy(name + length, suffix, sizeof suffix);
    return pp_output_set_template_of("heap", name);
}

static const pp_word words[] = {
    {"heap", take_heap, "heap or heap:BYTES, 0 for off, 1 for every block, 512k"},
    {"peak", take_peak, "peak, without a value"},
    {"age", take_age, "age, without a value"},
    {"leak", take_leak, "leak or leak:BYTES, the rate of heap, not 0"},
    {"lifetime", take_lifetime, "lifetime or lifetime:BYTES, the rate of heap, not 0"},
    {"memory", take_memory, "memory or memory:BYTES, the rate of heap"},
    {"jemalloc", take_jemalloc, "jemalloc=none or jemalloc=PREFIX, of its functions"},
    {"otel-memory", take_probes, "otel-memory or otel-memory:BYTES, the rate of heap"},
    {"HEAPPROFILE", take_prefix, NULL},
    {.name = NULL}};

static const pp_flag flags[] = {{"memprofile", .file = &state.flagged.file},
                                {"memprofilerate", .number = &state.flagged.rate},
                                {.name = NULL}};

static int64_t flagged_rate(void)
{
    int64_t present = pp_heap_rate();
    return state.flagged.rate > 0 ? state.flagged.rate
           : present > 0          ? present
                                  : PP_HEAP_RATE_DEFAULT;
}

static int take_flags(void)
{
    int error = 0;
    files[ALLOCS].asked = pp_flag_file("allocs", state.flagged.file, &error);
    if (files[ALLOCS].asked) {
        state.rate = flagged_rate();
        state.has_rate |= state.flagged.rate > 0;
    } else if (state.flagged.rate > 0) {
        pprof_set_mem_profile_rate(state.flagged.rate);
    }
    state.flagged.file = NULL;
    state.flagged.rate = 0;
    return error;
}

static void reset(void)
{
    state.rate = PP_HEAP_RATE_DEFAULT;
    state.has_rate = false;
    state.no_jemalloc = false;
    state.by_age = false;
    state.probes = false;
}

/* ---- start and stop ---- */

/* Which pages are there may be asked in a way that a filter would not know. */
static void permit_questions(void)
{
    if (pp_sandbox_permits_questions()) {
        pp_code_query_permit();
    }
}

/* Before the first search. */
static void prepare_leak(void)
{
    pp_live_table_keep_births();
    pp_leak_doubts_permit(pp_sandbox_probe() != PP_SANDBOX_REFUSES);
    permit_questions();
}

/* Without memory now, the profile's next reader tries again. */
static void begin_lifetimes(void)
{
    pp_lifetimes_want();
}

/* False if the program, or a library before us, defines its own malloc. The call is marked as our
 * own work, so that the hooks do not count memory that such a malloc maps. */
static bool sees_allocations(void)
{
    enum { COUNTDOWN = 1000 };
    void *(*volatile allocate)(size_t) = malloc; /* else the compiler could drop the call */
    pp_heap_set_rate(0);                         /* the block is not the program's */
    pp_own_work_begin();
    free(allocate(1)); /* resolves the hooks, with a countdown of 0 by way of the slow path */
    pp_heap_countdown = COUNTDOWN;
    free(allocate(1));
    pp_own_work_end();
    bool seen = pp_heap_countdown != COUNTDOWN;
    pp_heap_countdown = 0;
    return seen;
}

static void warn_of_no_samples(void)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "the heap profile will be empty: the program's malloc is not the one that "
                       "libpprof hooks; preload libpprof first, or link it first; a fully static "
                       "program has to be linked with the options in libpprof_static.wrap");
    pp_log(&text);
}

/* Not in builds with sanitizers, whose allocator comes first, nor in fully static programs. */
extern void find_real_functions(void) __asm__("pp_malloc_resolve_all")
    __attribute__((weak, visibility("hidden")));

extern pp_called_hooks list_hooks __asm__("pp_malloc_list_called")
    __attribute__((weak, visibility("hidden")));

static size_t list_called(pp_called_hook *list, size_t capacity)
{
    return list_hooks != NULL ? list_hooks(list, capacity) : 0;
}

static void find_real(void)
{
    if (find_real_functions != NULL) {
        find_real_functions();
    }
}

/* The blocks and mappings that the program has now. */
static void forget(void)
{
    const uint64_t everything = UINT64_MAX / 2;
    pp_signal_mask old = 0;
    pp_jemalloc_end();
    pp_heap_forget_blocks();
    if (pp_heap_mappings_any() && pp_heap_mappings_enter(&old)) {
        pp_heap_unmapped(0, everything);
        pp_heap_mappings_leave(&old);
    }
}

/* A program that is linked to us is sampled without an option, as in Go. */
static void start_unasked(void)
{
    bool on = pp_is_linked() && secure_getenv("LIBPPROF") == NULL;
    if (on) {
        pp_own_variables_are_sparse();
        pp_prepare_walks();
    }
    pp_heap_set_rate(on ? PP_HEAP_RATE_DEFAULT : 0);
}

extern bool is_of_malloc(uintptr_t address) __asm__("pp_malloc_is_allocators")
    __attribute__((weak, visibility("hidden")));

/*
 * Whether our hooks take the samples of the jemalloc that was found: they see its calls, and either
 * its profiler is not active, or a rate is asked for that need not be jemalloc's. Where a library
 * with plain names is not what our malloc calls, something stands between the two, and its calls
 * would be seen twice.
 */
static bool hooks_take_samples(pp_jemalloc_state is, bool seen)
{
    const pp_jemalloc *jemalloc = pp_jemalloc_found();
    if (jemalloc->limit == 0 || !seen || is_of_malloc == NULL) {
        return false;
    }
    return is_of_malloc((uintptr_t)jemalloc->ask) ? is < PP_JEMALLOC_ACTIVE || state.has_rate
                                                  : pp_jemalloc_has_plain_names();
}

/* True if jemalloc takes the samples of its blocks from now on. If no rate is asked for, its rate
 * is that of all samples. */
static bool begin_jemalloc(bool seen)
{
    pp_jemalloc_state is = state.no_jemalloc ? PP_JEMALLOC_NONE : pp_jemalloc_find();
    bool by_hooks = hooks_take_samples(is, seen);
    pp_jemalloc_describe(is, by_hooks);
    if (is < PP_JEMALLOC_INACTIVE || by_hooks ||
        pp_jemalloc_begin(pp_jemalloc_found(), is == PP_JEMALLOC_ACTIVE) != 0) {
        pp_jemalloc_end();
        return false;
    }
    if (!state.has_rate) {
        state.rate = (int64_t)pp_jemalloc_rate(pp_jemalloc_found());
    }
    pp_heap_note_missed();
    return true;
}

static void start_asked(void)
{
    pp_call_slots_give_back();
    pp_heap_collect_for(files);
    bool seen = pp_late_is() || sees_allocations();
    seen |= begin_jemalloc(seen);
    if (files[PEAK].asked) {
        pp_heap_peak_start();
    }
    if (state.by_age) {
        pp_heap_ages_want();
    }
    if (files[LEAK].asked) {
        prepare_leak();
        profiles[LEAK_PROFILE].unlisted = false;
    }
    if (files[LIFETIME].asked) {
        begin_lifetimes();
        profiles[LIFETIME_PROFILE].unlisted = false;
    }
    if (files[MEMORY].asked) {
        permit_questions();
        profiles[MEMORY_PROFILE].unlisted = false;
    }
    pp_heap_set_rate(state.rate);
    if (!seen) {
        warn_of_no_samples();
    }
}

static bool prepare_probes(void)
{
    if (!state.probes) {
        return false;
    }
    state.probes = false;
    pp_own_variables_are_sparse();
    pp_prepare_walks();
    pp_modules_refresh();
    pp_memory_probes_begin();
    return true;
}

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    bool is_asked = pp_prepare_asked(files);
    if (prepare_probes() || is_asked) {
        start_asked();
    } else if (!state.was_started) {
        start_unasked();
    }
    state.was_started = true;
    return 0;
}

static bool is_on(void)
{
    return pp_heap_rate() != 0;
}

static void stop(bool confined)
{
    (void)confined;
    pp_heap_set_rate(0);
}

static void after_fork(bool goes_on)
{
    (void)goes_on;
    pp_heap_cycles_after_fork_in_child();
    pp_heap_mappings_after_fork_in_child();
    pp_heap_after_fork_in_child();
    pp_leaks_after_fork_in_child();
    pp_heap_collect_after_fork();
}

/* ---- profiles ---- */

static size_t count_records(void)
{
    size_t records = 0;
    pprof_mem_profile(NULL, 0, &records, true);
    return records;
}

static void collect(void)
{
    pp_heap_collect();
}

static int build_heap(pp_arena *arena, pp_profile *profile)
{
    return pp_heap_profile_build(PP_HEAP_INUSE, arena, profile);
}

static int build_allocs(pp_arena *arena, pp_profile *profile)
{
    return pp_heap_profile_build(PP_HEAP_ALLOCS, arena, profile);
}

static pprof_profile profiles[PROFILES + 1] = {
    {.name = "heap",
     .about = "What is allocated now, by the places that allocated it. gc=1 runs the collector "
              "first, if the program has set one.",
     .count = count_records,
     .write = write_heap,
     .build = build_heap,
     .set_rate = pprof_set_mem_profile_rate,
     .before_write = collect,
     .before_write_query = "gc"},
    {.name = "allocs",
     .word = "heap",
     .alias = "growth",
     .about = "All that was ever allocated, by the places that allocated it.",
     .count = count_records,
     .write = write_allocs,
     .build = build_allocs,
     .set_rate = pprof_set_mem_profile_rate,
     .before_write = collect},
    {.name = "peak",
     .about = "What was allocated when the most was.",
     .count = count_records,
     .write = write_peak,
     .is_there = pp_heap_peak_is_wanted},
    {.name = "leak",
     .about = "What is allocated, and nothing refers to it any more. Reads all memory.",
     .count = pp_leak_profile_count,
     .write = pp_leak_profile_write,
     .before_write = prepare_leak,
     .is_there = is_on,
     .unlisted = true},
    {.name = "lifetime",
     .about = "What was allocated and freed: how long it lived, and where it was freed. The first "
              "request begins the recording.",
     .count = pp_lifetime_profile_count,
     .write = pp_lifetime_profile_write,
     .build = pp_lifetime_profile_build,
     .before_write = begin_lifetimes,
     .is_there = is_on,
     .unlisted = true,
     .accumulates = true},
    {.name = "memory",
     .about = "The memory that is resident (RSS), by what holds it.",
     .count = pp_memory_profile_count,
     .write = pp_memory_profile_write,
     .before_write = permit_questions,
     .unlisted = true},
    {.name = NULL}};

static const pp_kind_hooks hooks = {
    .record = is_on, .find_real = find_real, .list_called = list_called, .forget = forget};

const pp_kind pp_kind_heap = {
    .name = "heap",
    .words = words,
    .flags = flags,
    .profiles = profiles,
    .files = files,
    .hooks = &hooks,
    .take_flags = take_flags,
    .reset = reset,
    .start = start,
    .stop = stop,
    .after_fork = after_fork,
};
