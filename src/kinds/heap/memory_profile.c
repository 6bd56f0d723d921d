/* SPDX-License-Identifier: MIT
 *
 * memory_profile.c: makes a profile of who holds the memory.
 *
 *   the root of each stack   a pseudo-frame for the holder: pprof_memory_blocks ...
 *   the rest of the stack    who allocated the block, or made the mapping, if that is known
 *   labels                   file, thread, arena
 *
 * What the allocator has in memory is its blocks and the rest. The sum of the blocks is the number that
 * the allocator knows, less what is not in memory of large blocks; where it says none, the estimate by
 * samples. Samples say whose blocks they are: an estimate that is too high is lowered to the sum, where
 * it is least certain most, and what it lacks (headers, rounding, blocks from before the recording) has
 * no stack.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.memory
 */
#include "kinds/heap/memory_profile.h"

#include "base/pseudo_frame.h"
#include "base/sort.h"
#include "base/text.h"
#include "encode/proto.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/libc_arenas.h"
#include "kinds/heap/memory_reading.h"
#include "output/symbolize.h"
#include "profile/label_shares.h"
#include "profile/mappings.h"
#include "profile/samples.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

PP_PSEUDO_FRAME(pprof_memory_blocks)
PP_PSEUDO_FRAME(pprof_memory_allocator)
PP_PSEUDO_FRAME(pprof_memory_stacks)
PP_PSEUDO_FRAME(pprof_memory_mappings)
PP_PSEUDO_FRAME(pprof_memory_shared)
PP_PSEUDO_FRAME(pprof_memory_code)
PP_PSEUDO_FRAME(pprof_memory_data)
PP_PSEUDO_FRAME(pprof_memory_files)
PP_PSEUDO_FRAME(pprof_memory_kernel)
PP_PSEUDO_FRAME(pprof_memory_libpprof)
PP_PSEUDO_FRAME(pprof_memory_unknown)

static void (*const roots[PP_HOLDERS])(void) = {
    [PP_HOLDER_BLOCKS] = pprof_memory_blocks,   [PP_HOLDER_ALLOCATOR] = pprof_memory_allocator,
    [PP_HOLDER_STACKS] = pprof_memory_stacks,   [PP_HOLDER_MAPPINGS] = pprof_memory_mappings,
    [PP_HOLDER_SHARED] = pprof_memory_shared,   [PP_HOLDER_CODE] = pprof_memory_code,
    [PP_HOLDER_DATA] = pprof_memory_data,       [PP_HOLDER_FILES] = pprof_memory_files,
    [PP_HOLDER_KERNEL] = pprof_memory_kernel,   [PP_HOLDER_OWN] = pprof_memory_libpprof,
    [PP_HOLDER_UNKNOWN] = pprof_memory_unknown, [PP_HOLDER_READING] = pprof_memory_libpprof,
};

enum { RESIDENT, PRIVATE, SWAPPED, VALUES };
enum { MAX_COMMENTS = 6, OWN_LABELS = 1, FIRST_SQUARE_ROOT_STEPS = 64 };

static size_t last_count;

size_t pp_memory_profile_count(void)
{
    return __atomic_load_n(&last_count, __ATOMIC_RELAXED);
}

/* ---- rows ---- */

typedef struct row {
    pp_holder holder;
    uint32_t arena; /* 0: none */
    const pp_trie_stack *stack;
    pprof_labels *labels;
    const char *name; /* of a file or a thread; NULL: none */
    double value[VALUES];
} row;

/* Bytes of all parts of one kind. */
typedef struct added_up {
    double value[VALUES];
    double blocks, spare; /* the estimate of live blocks; what the parts have beyond it */
} added_up;

typedef struct rows {
    const pp_memory_reading *reading;
    pp_label_shares shares;
    row *list;
    size_t count, capacity;
    added_up allocator, pool; /* the pool: memory without a file that nobody has by its address */
    double live;              /* bytes of blocks in memory */
    double variance, absent;
    double less, scale; /* set the estimates of the allocator's blocks right: see estimate() */
    uint64_t sampled;
} rows;

static int compare_texts(const char *x, const char *y)
{
    return x == y ? 0 : x == NULL ? -1 : y == NULL ? 1 : strcmp(x, y);
}

static int compare_rows(const void *a, const void *b, void *unused)
{
    (void)unused;
    const row *x = a;
    const row *y = b;
    if (x->holder != y->holder) {
        return x->holder < y->holder ? -1 : 1;
    }
    if (x->stack != y->stack) {
        return (uintptr_t)x->stack < (uintptr_t)y->stack ? -1 : 1;
    }
    if (x->labels != y->labels) {
        return (uintptr_t)x->labels < (uintptr_t)y->labels ? -1 : 1;
    }
    if (x->arena != y->arena) {
        return x->arena < y->arena ? -1 : 1;
    }
    return compare_texts(x->name, y->name);
}

static void add_row(rows *r, const row *added)
{
    if (r->count < r->capacity && (added->value[RESIDENT] >= 1 || added->value[SWAPPED] >= 1)) {
        r->list[r->count++] = *added;
    }
}

static void merge_rows(rows *r)
{
    size_t kept = 0;
    pp_sort(r->list, r->count, sizeof *r->list, compare_rows, NULL);
    for (size_t i = 0; i < r->count; i++) {
        row *last = kept > 0 ? &r->list[kept - 1] : NULL;
        if (last == NULL || compare_rows(last, &r->list[i], NULL) != 0) {
            r->list[kept++] = r->list[i];
            continue;
        }
        for (int value = 0; value < VALUES; value++) {
            last->value[value] += r->list[i].value[value];
        }
    }
    r->count = kept;
}

/* ---- the allocator's memory ---- */

static const pp_smaps_area *area_of(const rows *r, const pp_resident_part *part)
{
    return &r->reading->resident.areas.list[part->area];
}

static double private_share(const pp_smaps_area *area)
{
    return area->resident > 0 ? (double)area->owned / (double)area->resident : 0;
}

/* Whether the allocator says how much it has, not where: then it has that much of the pool. */
static bool has_pool(const rows *r)
{
    return !r->reading->allocator.is_libc && r->reading->allocator.most > 0;
}

static bool is_allocators(const rows *r, const pp_resident_part *part)
{
    return part->holder == PP_HOLDER_ALLOCATOR ||
           (part->holder == PP_HOLDER_UNKNOWN && has_pool(r));
}

/* Memory with blocks in it is the allocator's. */
static void find_allocators(pp_resident *resident)
{
    for (size_t i = 0; i < resident->part_count; i++) {
        pp_resident_part *part = &resident->parts[i];
        if (part->holder == PP_HOLDER_UNKNOWN && part->blocks > 0) {
            part->holder = PP_HOLDER_ALLOCATOR;
        }
    }
}

static double spare_of(const pp_resident_part *part)
{
    return part->resident > part->blocks ? part->resident - part->blocks : 0;
}

static void add_up(rows *r)
{
    const pp_resident *resident = &r->reading->resident;
    for (size_t i = 0; i < resident->part_count; i++) {
        const pp_resident_part *part = &resident->parts[i];
        if (!is_allocators(r, part)) {
            continue;
        }
        r->allocator.value[RESIDENT] += part->resident;
        r->allocator.value[PRIVATE] += part->resident * private_share(area_of(r, part));
        r->allocator.value[SWAPPED] += part->swapped;
        r->allocator.blocks += part->blocks;
        r->allocator.spare += spare_of(part);
    }
    for (size_t i = 0; i < resident->block_count; i++) {
        const pp_resident_block *block = &resident->blocks[i];
        double size = (double)pp_heap_block_size(block->record);
        r->absent += block->weight * (size > block->resident ? size - block->resident : 0);
        if (is_allocators(r, &resident->parts[block->part])) {
            r->variance += block->weight * (block->weight - 1) * block->resident * block->resident;
        }
        r->sampled += block->weight > 0;
    }
}

/* Gives the pool's memory beyond what the allocator says back: nobody knows whose it is. */
static void split_pool(rows *r)
{
    double whole = r->allocator.value[RESIDENT];
    double most = (double)r->reading->allocator.most;
    double kept = most > r->allocator.blocks ? most : r->allocator.blocks;
    if (!has_pool(r) || kept >= whole) {
        return;
    }
    double share = 1 - kept / whole;
    for (int value = 0; value < VALUES; value++) {
        r->pool.value[value] = r->allocator.value[value] * share;
        r->allocator.value[value] -= r->pool.value[value];
    }
    add_row(r, &(row){.holder = PP_HOLDER_UNKNOWN,
                      .value = {r->pool.value[RESIDENT], r->pool.value[PRIVATE],
                                r->pool.value[SWAPPED]}});
}

/*
 * An estimate w b (a sampled block of b bytes in memory that represents w) has the variance w (w - 1) b^2.
 * So of what all are too high, it has the part w (w - 1) b^2 / (sum of variances): a large block, which
 * is certain, stays as it is.
 */
static double estimate(const rows *r, const pp_resident_block *block)
{
    double factor = 1 - r->less * (block->weight - 1) * block->resident;
    return block->weight * block->resident * (factor > 0 ? factor : 0) * r->scale;
}

static bool is_allocators_block(const rows *r, const pp_resident_block *block)
{
    return is_allocators(r, &r->reading->resident.parts[block->part]);
}

/* Lowers the estimates to what is live. */
static void lower(rows *r)
{
    const pp_resident *resident = &r->reading->resident;
    double sum = 0;
    r->less = r->variance > 0 ? (r->allocator.blocks - r->live) / r->variance : 0;
    for (size_t i = 0; i < resident->block_count; i++) {
        sum += is_allocators_block(r, &resident->blocks[i]) ? estimate(r, &resident->blocks[i]) : 0;
    }
    r->scale = sum > 0 ? r->live / sum : 1;
}

static void settle_blocks(rows *r)
{
    const pp_allocator_report *said = &r->reading->allocator;
    double most = r->allocator.value[RESIDENT];
    double used = (double)said->used > r->absent ? (double)said->used - r->absent : 0;
    r->live = said->has_used ? used : r->allocator.blocks;
    r->live = r->live < most ? r->live : most;
    r->scale = 1;
    if (r->allocator.blocks > r->live) {
        lower(r);
    }
}

/* Of the allocator's memory, so much is `bytes` of it. */
static void add_share(rows *r, pp_holder holder, uint32_t arena, double bytes)
{
    const added_up *all = &r->allocator;
    double share = all->value[RESIDENT] > 0 ? bytes / all->value[RESIDENT] : 0;
    add_row(r, &(row){.holder = holder,
                      .arena = arena,
                      .value = {bytes, share * all->value[PRIVATE], share * all->value[SWAPPED]}});
}

/* The rest of each arena, as far as the samples say it. */
static void add_rest(rows *r)
{
    const pp_resident *resident = &r->reading->resident;
    double rest = r->allocator.value[RESIDENT] - r->live;
    for (size_t i = 0; i < resident->part_count && r->allocator.spare > 0; i++) {
        const pp_resident_part *part = &resident->parts[i];
        if (is_allocators(r, part)) {
            add_share(r, PP_HOLDER_ALLOCATOR, (uint32_t)part->who,
                      rest * spare_of(part) / r->allocator.spare);
        }
    }
    if (r->live > r->allocator.blocks) {
        add_share(r, PP_HOLDER_BLOCKS, 0, r->live - r->allocator.blocks);
    }
}

/* ---- blocks and parts ---- */

/* The set in whose cell the block is: `shares` holds a reference. */
static pprof_labels *labels_of(const rows *r, pp_heap_block record)
{
    const pprof_labels *labels = pp_heap_block_labels(record);
    size_t count = 0;
    const pp_label_share *share =
        pp_label_shares_of(&r->shares, pp_heap_block_bucket(record), &count);
    for (size_t i = 0; labels != NULL && i < count; i++) {
        if (share[i].labels == labels) {
            return share[i].labels;
        }
    }
    return NULL;
}

static void add_block(rows *r, const pp_resident_block *block)
{
    const pp_resident_part *part = &r->reading->resident.parts[block->part];
    double resident = is_allocators(r, part) ? estimate(r, block) : block->weight * block->resident;
    add_row(r, &(row){.holder = PP_HOLDER_BLOCKS,
                      .stack = pp_heap_block_bucket(block->record)->stack,
                      .labels = labels_of(r, block->record),
                      .value = {resident, resident * private_share(area_of(r, part)),
                                block->weight * block->swapped}});
}

static const char *name_of(const rows *r, const pp_resident_part *part)
{
    const char *path = area_of(r, part)->map.path;
    if (part->holder == PP_HOLDER_STACKS) {
        return part->who != 0 ? r->reading->names[part->who - 1] : "main thread";
    }
    return path[0] == '/' || part->holder == PP_HOLDER_KERNEL ? path : NULL;
}

/* Variables without a value in the file, and what comes after them, have the name of the file. */
static const char *file_of(const rows *r, const pp_resident_part *part)
{
    const char *name = name_of(r, part);
    const pp_resident *resident = &r->reading->resident;
    for (uint32_t i = part->area; name == NULL && part->holder == PP_HOLDER_DATA && i > 0; i--) {
        const char *path = resident->areas.list[i - 1].map.path;
        name = path[0] == '/' ? path : NULL;
    }
    return name;
}

static void add_part(rows *r, const pp_resident_part *part)
{
    double resident = spare_of(part);
    bool is_mapped = part->who != 0 && part->holder != PP_HOLDER_STACKS;
    if (is_allocators(r, part)) {
        return;
    }
    add_row(r,
            &(row){.holder = part->holder,
                   .stack = is_mapped ? pp_heap_block_bucket(part->who)->stack : NULL,
                   .labels = is_mapped ? labels_of(r, part->who) : NULL,
                   .name = file_of(r, part),
                   .value = {resident, resident * private_share(area_of(r, part)), part->swapped}});
}

static int fill_rows(rows *r, pp_memory_reading *reading, pp_arena *arena)
{
    pp_resident *resident = &reading->resident;
    *r = (rows){.reading = reading};
    int error = pp_label_shares_read(pp_heap_buckets_labels(), arena, &r->shares);
    r->capacity = 2 * resident->part_count + resident->block_count + 2;
    r->list = pp_arena_array(arena, r->capacity, sizeof *r->list);
    if (error != 0 || r->list == NULL) {
        return -ENOMEM;
    }
    if (!has_pool(r)) {
        find_allocators(resident);
    }
    add_up(r);
    split_pool(r);
    settle_blocks(r);
    add_rest(r);
    for (size_t i = 0; i < resident->block_count; i++) {
        add_block(r, &resident->blocks[i]);
    }
    for (size_t i = 0; i < resident->part_count; i++) {
        add_part(r, &resident->parts[i]);
    }
    merge_rows(r);
    return 0;
}

/* ---- the model ---- */

static const char *label_key(pp_holder holder)
{
    return holder == PP_HOLDER_STACKS ? "thread" : "mapping";
}

static bool add_sample(const row *from, pp_samples *samples, pp_arena *arena)
{
    uint32_t depth = from->stack != NULL ? from->stack->depth : 0;
    pp_sample_label *own = pp_arena_array(arena, OWN_LABELS, sizeof *own);
    uintptr_t *pc = pp_arena_array(arena, depth + 1, sizeof *pc);
    pp_profile_sample sample = {.pc = pc, .depth = depth + 1};
    uint32_t count = 0;
    if (own == NULL || pc == NULL) {
        return false;
    }
    if (depth > 0) {
        memcpy(pc, from->stack->pc, depth * sizeof *pc);
    }
    pc[depth] = (uintptr_t)roots[from->holder] + 1;
    for (int value = 0; value < VALUES; value++) {
        sample.value[value] = (int64_t)(from->value[value] + 0.5);
    }
    if (from->name != NULL) {
        own[count++] = (pp_sample_label){.key = label_key(from->holder), .text = from->name};
    } else if (from->arena != 0) {
        own[count++] = (pp_sample_label){.key = "arena", .number = from->arena, .unit = "number"};
    }
    if (!pp_labels_to_sample_labels(from->labels, own, count, arena, &sample)) {
        return false;
    }
    pp_samples_add(samples, &sample);
    return true;
}

static int fill_samples(const rows *r, pp_arena *arena, pp_profile *profile)
{
    pp_samples samples;
    int error = pp_samples_init(&samples, r->count, arena);
    for (size_t i = 0; i < r->count && error == 0; i++) {
        error = add_sample(&r->list[i], &samples, arena) ? 0 : -ENOMEM;
    }
    return error == 0 ? pp_samples_give(&samples, RESIDENT, arena, profile) : error;
}

/* ---- comments ---- */

static void add_bytes(pp_text *text, double bytes)
{
    const double kib = 1024;
    const double large = 10 * kib * kib;
    double unit = bytes < large ? kib : kib * kib;
    pp_text_add_number(text, (uint64_t)(bytes / unit + 0.5));
    pp_text_add(text, bytes < large ? " KiB" : " MiB");
}

/* Newton's method: libm is not linked. */
static double square_root(double number)
{
    double root = number;
    for (int i = 0; i < FIRST_SQUARE_ROOT_STEPS && root > 0 && root * root > number * 1.000001;
         i++) {
        root = (root + number / root) / 2;
    }
    return root;
}

static void end_comment(pp_profile *profile, const char **list, pp_text *text, pp_arena *arena)
{
    list[profile->comment_count++] = pp_arena_text(arena, text->data, text->length);
    *text = (pp_text)PP_TEXT_INIT;
    pp_text_add(text, "libpprof: ");
}

static void say_sum(const pp_memory_reading *reading, pp_text *text)
{
    uint64_t shared = 0;
    for (size_t i = 0; i < reading->resident.areas.count; i++) {
        const pp_smaps_area *area = &reading->resident.areas.list[i];
        shared += area->resident > area->owned ? area->resident - area->owned : 0;
    }
    add_bytes(text, (double)reading->resident.sum);
    pp_text_add(text, " are resident (VmRSS ");
    add_bytes(text, (double)reading->before.resident);
    pp_text_add(text, ", at most ");
    add_bytes(text, (double)reading->before.peak);
    pp_text_add(text, " so far); ");
    add_bytes(text, (double)shared);
    pp_text_add(text, " of it is shared with other processes");
}

static void say_change(const pp_memory_reading *reading, pp_text *text)
{
    pp_text_add(text, "VmRSS went from ");
    add_bytes(text, (double)reading->before.resident);
    pp_text_add(text, " to ");
    add_bytes(text, (double)reading->after.resident);
    pp_text_add(text, " while it was read: the values are of no single moment");
}

static void say_allocator(const pp_memory_reading *reading, pp_text *text)
{
    const pp_allocator_report *said = &reading->allocator;
    pp_text_add(text, said->name);
    if (said->has_used) {
        pp_text_add(text, " has given out ");
        add_bytes(text, (double)said->used);
    } else {
        pp_text_add(text, " does not say how much it has given out");
    }
    if (said->is_libc) {
        pp_text_add(text, ", from ");
        pp_text_add_count(text, reading->arenas, " [arena|arenas]");
    } else if (said->most > 0) {
        pp_text_add(text, ", and has at most ");
        add_bytes(text, (double)said->most);
        pp_text_add(text, " in memory");
    }
}

static void say_blocks(const rows *r, pp_text *text)
{
    if (pp_heap_rate() == 0 || r->sampled == 0) {
        pp_text_add(text, pp_heap_rate() == 0 ? "the heap is not recorded (option heap)"
                                              : "no live block is a sample");
        pp_text_add(text, ": live blocks have no stacks, and ");
        pp_text_add(text, r->reading->allocator.has_used
                              ? "are what the allocator has given out, touched or not"
                              : "are in what the allocator has");
        return;
    }
    pp_text_add_count(text, r->sampled,
                      " sampled [block is|blocks are] live; the standard error of ");
    add_bytes(text, r->allocator.blocks);
    pp_text_add(text, ", the estimate by samples, is ");
    add_bytes(text, square_root(r->variance));
}

static void say_beside(const pp_memory_said *said, pp_text *text)
{
    pp_text_add(text, "beside this the kernel has ");
    add_bytes(text, (double)said->page_tables);
    pp_text_add(text, " of page tables");
    if (said->huge > 0) {
        pp_text_add(text, ", ");
        add_bytes(text, (double)said->huge);
        pp_text_add(text, " of hugetlbfs, which no RSS counts");
    }
    if (said->swapped > 0) {
        pp_text_add(text, "; ");
        add_bytes(text, (double)said->swapped);
        pp_text_add(text, " are swapped out");
    }
}

static int add_comments(const rows *r, pp_arena *arena, pp_profile *profile)
{
    const pp_memory_reading *reading = r->reading;
    const char **list = pp_arena_array(arena, MAX_COMMENTS, sizeof *list);
    pp_text text = PP_TEXT_INIT;
    if (list == NULL) {
        return -ENOMEM;
    }
    pp_text_add(&text, "libpprof: ");
    say_sum(reading, &text);
    end_comment(profile, list, &text, arena);
    if (!reading->is_coherent) {
        say_change(reading, &text);
        end_comment(profile, list, &text, arena);
    }
    if (reading->allocator.name != NULL) {
        say_allocator(reading, &text);
        end_comment(profile, list, &text, arena);
    }
    say_blocks(r, &text);
    end_comment(profile, list, &text, arena);
    say_beside(&reading->after, &text);
    end_comment(profile, list, &text, arena);
    if (!reading->knows_pages) {
        pp_text_add(&text, "the kernel does not say which pages are there (/proc/PID/pagemap): a "
                           "mapping with several holders counts for the last one");
        end_comment(profile, list, &text, arena);
    }
    profile->comments = list;
    return arena->failed ? -ENOMEM : 0;
}

static int build(const rows *r, pp_arena *arena, pp_profile *profile)
{
    *profile = (pp_profile){
        .sample_type_count = VALUES,
        .sample_type = {{"resident", "bytes"}, {"private", "bytes"}, {"swapped", "bytes"}},
        .default_sample_type = "resident",
        .period_type = {"space", "bytes"},
        .period = pp_heap_rate(),
        .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME),
        .hide_allocators = true,
    };
    int error = fill_samples(r, arena, profile);
    if (error == 0) {
        error = pp_profile_add_mappings(arena, profile);
    }
    return error == 0 ? add_comments(r, arena, profile) : error;
}

int pp_memory_profile_write(pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_memory_reading reading;
    rows r = {.reading = NULL};
    pp_profile profile;
    if (debug != 0) {
        return -ENOTSUP;
    }
    int error = pp_memory_read(&reading, &arena);
    if (error == 0) {
        error = fill_rows(&r, &reading, &arena);
    }
    if (error == 0) {
        error = build(&r, &arena, &profile);
    }
    if (error == 0) {
        __atomic_store_n(&last_count, profile.sample_count, __ATOMIC_RELAXED);
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_label_shares_release(&r.shares);
    pp_arena_release(&arena);
    return error;
}
