/* SPDX-License-Identifier: MIT
 *
 * memory.c: see memory.h.
 *
 *   profile: root, labels, values --\
 *                                    --> held: a row for each --> sums by holder --> the page
 *   /proc of a process (remote/)  --/
 *
 * Owns: the rows, for the length of a call.
 * Tested by: e2e.cpprof_memory
 */
#include "why/memory.h"

#include "ask/control.h"
#include "ask/control_target.h"
#include "ask/fetch.h"
#include "ask/process_files.h"
#include "ask/source_root.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/printable.h"
#include "import/profile_file.h"
#include "profile/profile_model.h"
#include "report/report_load.h"
#include "why/why_places.h"

#include "remote/holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 8, NAMES = 8, ARENAS = 3, LINE_COLUMNS = 78 };
enum { RESIDENT, PRIVATE, SWAPPED, VALUES };

static const char *const types[VALUES] = {"resident", "private", "swapped"};

/* In the order of the page, if values are equal. */
static const struct {
    const char *root, *text;
} holders[] = {
    {"pprof_memory_blocks", "live blocks of the allocator"},
    {"pprof_memory_allocator", "free memory of the allocator, fragmentation, its tables"},
    {"pprof_memory_stacks", "stacks of threads"},
    {"pprof_memory_mappings", "memory that the program maps (mmap)"},
    {"pprof_memory_shared", "shared memory"},
    {"pprof_memory_code", "code and constants of the program and its libraries"},
    {"pprof_memory_data", "variables of the program and its libraries"},
    {"pprof_memory_files", "mapped files"},
    {"pprof_memory_kernel", "pages of the kernel"},
    {"pprof_memory_libpprof", "libpprof"},
    {"pprof_memory_unknown", "other memory without a file"},
};
enum { BLOCKS, ALLOCATOR, STACKS, MAPPINGS, SHARED, CODE, DATA, FILES, HOLDERS = 11 };

typedef struct held {
    int holder;
    char *name; /* NULL: none */
    int64_t arena;
    int64_t value[VALUES];
} held;

typedef struct page {
    held *rows;
    size_t count, capacity;
    int64_t sum[HOLDERS][VALUES];
    int64_t total[VALUES];
    bool is_outside; /* nothing in the process was asked */
} page;

/* ---- rows ---- */

static int holder_of(const char *root)
{
    for (int i = 0; i < HOLDERS; i++) {
        if (strcmp(holders[i].root, root) == 0) {
            return i;
        }
    }
    return HOLDERS - 1;
}

static void add_row(page *p, const char *root, const char *name, int64_t arena,
                    const int64_t value[VALUES])
{
    p->rows = cp_heap_grow(p->rows, p->count, &p->capacity, sizeof *p->rows);
    held *row = &p->rows[p->count++];
    *row = (held){.holder = holder_of(root),
                  .name = name ? cp_heap_copy(name, strlen(name)) : NULL,
                  .arena = arena};
    for (int i = 0; i < VALUES; i++) {
        row->value[i] = value[i];
        p->sum[row->holder][i] += value[i];
        p->total[i] += value[i];
    }
}

static void release(page *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->rows[i].name);
    }
    free(p->rows);
}

/* ---- a profile ---- */

static const char *root_of(const cp_profile *profile, const cp_sample *sample)
{
    if (sample->location_count == 0) {
        return "";
    }
    const cp_location *root = &profile->locations[sample->locations[sample->location_count - 1]];
    return root->line_count == 0
               ? ""
               : cp_profile_text(
                     profile, profile->functions[root->lines[root->line_count - 1].function].name);
}

static void add_sample(page *p, const cp_profile *profile, const cp_sample *sample,
                       const int64_t index[VALUES])
{
    const char *name = NULL;
    int64_t arena = 0, value[VALUES];

    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        const char *key = cp_profile_text(profile, label->key);
        if (label->numeric && strcmp(key, "arena") == 0) {
            arena = label->number;
        } else if (!label->numeric && (strcmp(key, "mapping") == 0 || strcmp(key, "thread") == 0)) {
            name = cp_profile_text(profile, label->text);
        }
    }
    for (int i = 0; i < VALUES; i++) {
        value[i] = index[i] >= 0 ? sample->values[index[i]] : 0;
    }
    add_row(p, root_of(profile, sample), name, arena, value);
}

static int add_profile(page *p, const char *source, const cp_profile *profile, cp_error *error)
{
    int64_t index[VALUES];

    for (int i = 0; i < VALUES; i++) {
        index[i] = cp_profile_sample_index(profile, types[i]);
    }
    if (index[RESIDENT] < 0) {
        return cp_fail(error,
                       "%.500s: expected a profile of the kind memory, found none of its "
                       "sample types (resident)",
                       source);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        add_sample(p, profile, &profile->samples[i], index);
    }
    return 0;
}

/* ---- /proc ---- */

static void add_held(const pp_remote_held *found, void *of_page)
{
    const int64_t value[VALUES] = {(int64_t)found->resident, (int64_t)found->private_bytes,
                                   (int64_t)found->swapped};

    add_row(of_page, found->holder, found->name, (int64_t)found->arena, value);
}

/* ---- lines ---- */

static void print_bytes(int64_t bytes)
{
    char *text = cp_measure_label(bytes, "bytes", CP_UNIT_MINIMUM);

    printf("%10s", text);
    free(text);
}

static void print_cut(const char *text)
{
    size_t length = strlen(text);

    cp_put_printable(text, length < LINE_COLUMNS ? length : LINE_COLUMNS, stdout);
    fputs(length < LINE_COLUMNS ? "\n" : "...\n", stdout);
}

static void print_row(int64_t bytes, const char *text)
{
    print_bytes(bytes);
    fputs("  ", stdout);
    print_cut(text);
}

/* The end of a path tells more than its beginning. */
static void print_name(int64_t bytes, const char *name)
{
    size_t length = strlen(name);
    const char *at = name + (length < LINE_COLUMNS ? 0 : length - LINE_COLUMNS);

    while ((*at & 0xc0) == 0x80) { /* in a character of UTF-8 */
        at++;
    }
    print_bytes(bytes);
    fputs(at > name ? "  ..." : "  ", stdout);
    cp_put_printable(at, strlen(at), stdout);
    putchar('\n');
}

/* ---- the table ---- */

static const char *text_of(const page *p, int holder)
{
    return p->is_outside && holder == ALLOCATOR ? "the allocator's memory, in use or free"
                                                : holders[holder].text;
}

static void print_sums(const page *p)
{
    bool printed[HOLDERS] = {false};

    fputs("  resident        %   private   swapped\n", stdout);
    for (int turn = 0; turn < HOLDERS; turn++) {
        int largest = -1;
        for (int i = 0; i < HOLDERS; i++) {
            if (!printed[i] && (largest < 0 || p->sum[i][RESIDENT] > p->sum[largest][RESIDENT])) {
                largest = i;
            }
        }
        printed[largest] = true;
        if (p->sum[largest][RESIDENT] > 0 || p->sum[largest][SWAPPED] > 0) {
            char percent[CP_PERCENT_BYTES];
            cp_measure_percent(p->sum[largest][RESIDENT], p->total[RESIDENT], percent);
            print_bytes(p->sum[largest][RESIDENT]);
            printf("  %7s", percent);
            print_bytes(p->sum[largest][PRIVATE]);
            print_bytes(p->sum[largest][SWAPPED]);
            printf("  %s\n", text_of(p, largest));
        }
    }
    print_bytes(p->total[RESIDENT]);
    fputs("     100%", stdout);
    print_bytes(p->total[PRIVATE]);
    print_bytes(p->total[SWAPPED]);
    fputs("  all\n", stdout);
}

/* ---- details ---- */

static bool has(unsigned set, int holder)
{
    return (set >> holder & 1) != 0;
}

static int by_name(const void *left, const void *right)
{
    const held *a = left, *b = right;

    return strcmp(a->name, b->name);
}

static int by_bytes(const void *left, const void *right)
{
    const held *a = left, *b = right;

    return a->value[RESIDENT] != b->value[RESIDENT]
               ? (a->value[RESIDENT] < b->value[RESIDENT] ? 1 : -1)
               : by_name(left, right);
}

/* The names of some holders, the largest first; rows of one name are added up. */
static void print_names(const page *p, unsigned set, const char *heading)
{
    held *list = cp_heap_alloc(p->count + 1, sizeof *list);
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (has(set, p->rows[i].holder) && p->rows[i].name) {
            list[count++] = p->rows[i];
        }
    }
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(list[kept - 1].name, list[i].name) == 0) {
            list[kept - 1].value[RESIDENT] += list[i].value[RESIDENT];
        } else {
            list[kept++] = list[i];
        }
    }
    qsort(list, kept, sizeof *list, by_bytes);
    if (kept > 0) {
        printf("\n%s:\n", heading);
    }
    for (size_t i = 0; i < kept && i < NAMES; i++) {
        print_name(list[i].value[RESIDENT], list[i].name);
    }
    if (kept > NAMES) {
        printf("            ... and %zu more\n", kept - NAMES);
    }
    free(list);
}

static int by_arena(const void *left, const void *right)
{
    const held *a = left, *b = right;

    return (a->arena > b->arena) - (a->arena < b->arena);
}

static void print_arenas(const page *p)
{
    held *list = cp_heap_alloc(p->count + 1, sizeof *list);
    size_t count = 0, kept = 0;
    int64_t large = 0; /* of glibc's blocks that are in no arena; inside they are live blocks */

    for (size_t i = 0; i < p->count; i++) {
        if (p->rows[i].holder == ALLOCATOR && p->rows[i].arena > 0) {
            list[count] = p->rows[i];
            list[count++].name = "";
        } else if (p->rows[i].holder == ALLOCATOR && p->is_outside) {
            large += p->rows[i].value[RESIDENT];
        }
    }
    qsort(list, count, sizeof *list, by_arena);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && list[kept - 1].arena == list[i].arena) {
            list[kept - 1].value[RESIDENT] += list[i].value[RESIDENT];
        } else {
            list[kept++] = list[i];
        }
    }
    qsort(list, kept, sizeof *list, by_bytes);
    if (kept > 1 || large > 0) {
        printf("\nThe allocator%s by arena: %zu %s\n",
               p->is_outside ? "'s memory" : "'s free memory", kept,
               kept == 1 ? "arena" : "arenas, the largest");
        for (size_t i = 0; i < kept && i < ARENAS; i++) {
            print_bytes(list[i].value[RESIDENT]);
            printf("  arena %lld%s\n", (long long)list[i].arena,
                   list[i].arena == 1 ? " (the main one)" : "");
        }
    }
    if (large > 0) {
        print_row(large, "large blocks, each a mapping of its own");
    }
    free(list);
}

/* Hides the samples of other holders while their places are listed. */
static void print_stacks(cp_profile *profile, unsigned set, const char *heading)
{
    int64_t index = cp_profile_sample_index(profile, types[RESIDENT]);
    int64_t *kept = cp_heap_alloc(profile->sample_count + 1, sizeof *kept);

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];
        kept[i] = sample->values[index];
        bool has_stack = sample->location_count > 1;
        if (!has_stack || !has(set, holder_of(root_of(profile, sample)))) {
            sample->values[index] = 0;
        }
    }
    cp_places places = cp_places_of(profile, (uint32_t)index, false);
    if (places.count > 0) {
        printf("\n%s:\n", heading);
    }
    for (size_t i = 0; i < places.count && i < ROWS; i++) {
        print_row(places.rows[i].value, places.rows[i].text);
    }
    cp_places_release(&places);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        profile->samples[i].values[index] = kept[i];
    }
    free(kept);
}

static void print_comments(const cp_profile *profile)
{
    static const char begin[] = "libpprof: ";

    putchar('\n');
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *text = cp_profile_text(profile, profile->comments[i]);
        if (strncmp(text, begin, sizeof begin - 1) == 0) {
            text += sizeof begin - 1;
        }
        cp_put_printable(text, strlen(text), stdout);
        putchar('\n');
    }
}

/* ---- pages ---- */

static void print_head(int pid)
{
    char *command = pid ? cp_process_command(pid) : NULL;

    if (pid) {
        printf("process %d ", pid);
        print_cut(command ? command : "");
    }
    free(command);
}

static const unsigned named = 1 << SHARED | 1 << CODE | 1 << DATA | 1 << FILES;

static int print_profile(page *p, int pid, const char *source, cp_profile *profile, cp_error *error)
{
    if (add_profile(p, source, profile, error) < 0) {
        return -1;
    }
    print_head(pid);
    print_sums(p);
    print_stacks(profile, 1 << BLOCKS, "Live blocks, by who allocated them");
    print_arenas(p);
    print_stacks(profile, 1 << MAPPINGS | 1 << SHARED | 1 << FILES, "Mappings, by who made them");
    print_names(p, 1 << STACKS, "Stacks, by thread");
    print_names(p, named, "Files and shared memory, by name");
    print_comments(profile);
    return 0;
}

/* `unheard`: why the process was not asked. */
static int print_outside(page *p, int pid, const cp_error *unheard, cp_error *error)
{
    pp_remote_memory memory;
    pp_remote_error refusal;

    p->is_outside = true;
    if (pp_remote_holders(pid, add_held, p, &memory, &refusal) < 0) {
        return cp_fail(error, "%s", refusal.text);
    }
    print_head(pid);
    print_sums(p);
    print_arenas(p);
    print_names(p, 1 << STACKS, "Stacks, by thread");
    print_names(p, named, "Files and shared memory, by name");
    char *resident = cp_measure_label((int64_t)memory.resident, "bytes", CP_UNIT_MINIMUM);
    char *before = cp_measure_label((int64_t)memory.before, "bytes", CP_UNIT_MINIMUM);
    char *tables = cp_measure_label((int64_t)memory.page_tables, "bytes", CP_UNIT_MINIMUM);
    char *huge = cp_measure_label((int64_t)memory.huge, "bytes", CP_UNIT_MINIMUM);
    printf("\nVmRSS is %s (%s before this was read); beside it the kernel has %s of page tables",
           resident, before, tables);
    printf(memory.huge > 0 ? " and %s of hugetlbfs\n" : "\n", huge);
    free(resident);
    free(before);
    free(tables);
    free(huge);
    fputs("This is what /proc says: libpprof, which knows who allocated what, was not asked.\n",
          stdout);
    cp_put_printable(unheard->text, strlen(unheard->text), stdout);
    putchar('\n');
    return 0;
}

/* ---- asking ---- */

/* Whose threads do not answer. */
static bool is_stopped(int pid, cp_error *why)
{
    cp_process_stat stat = {.state = 0};

    cp_process_stat_read(pid, "stat", &stat);
    if (stat.state == 'T') {
        cp_fail(why, "process %d is stopped: let it go on (kill -CONT %d)", pid, pid);
    } else if (stat.state == 't') {
        cp_fail(why, "process %d is stopped by a debugger", pid);
    }
    return stat.state == 'T' || stat.state == 't';
}

static bool can_be_asked(int pid, cp_error *why)
{
    cp_target target;
    char path[PATH_MAX];
    int fd = -1;

    if (cp_target_read(pid, &target, why) == 0 && !is_stopped(pid, why)) {
        fd = cp_target_connect(&target, path, why);
    }
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

/* The address of a process, or a server's without a profile's name, means its memory. */
static char *address_of(const char *source)
{
    bool is_file = !cp_fetch_is_url(source) && !cp_control_is_process(source);
    char *root = is_file ? NULL : cp_source_root(source);
    char *address = root ? cp_source_address(root, "memory", "") : cp_heap_printf("%s", source);

    free(root);
    return address;
}

int cp_memory_run(const char *source)
{
    const char *rest = "";
    char *address = address_of(source);
    const char *const paths[] = {address};
    const cp_sources sources = {.paths = paths,
                                .path_count = 1,
                                .join = CP_JOIN_NEVER,
                                .lines = {.wanted = CP_LINES_NAMELESS, .is_quiet = true}};
    page p = {.count = 0};
    cp_profile *profile = NULL;
    cp_error error, why;
    int pid = 0, status = 0;

    if (cp_control_is_process(source)) {
        status = cp_control_pid(source, &pid, &rest, &error);
    }
    if (status == 0 && pid && !can_be_asked(pid, &why)) {
        status = print_outside(&p, pid, &why, &error);
    } else if (status == 0) {
        status = cp_report_load(&sources, &profile, &error);
        if (status == 0) {
            status = print_profile(&p, pid, source, profile, &error);
        } else if (pid) { /* it hangs, or has an older libpprof */
            why = error;
            status = print_outside(&p, pid, &why, &error);
        }
    }
    if (status == 0 && fflush(stdout) != 0) {
        status = cp_fail(&error, "cannot write to standard output");
    }
    if (status < 0) {
        cp_complain("%s", error.text);
    }
    cp_profile_free(profile);
    release(&p);
    free(address);
    return status < 0 ? CP_EXIT_BAD_INPUT : CP_EXIT_OK;
}
