/* SPDX-License-Identifier: MIT
 *
 * code_query.c: one question for each executable mapping.
 *
 * To find the next one, the kernel walks over all mappings between, among them two for each
 * thread's stack. So where the mappings begin is kept, for a second: if there still is one at each
 * place, and their sizes add up to what the kernel counts as code, then these are all. The kernel
 * does not count code that is writable, or that grows down: a new mapping of that kind is found a
 * second later at worst.
 *
 *   kept beginnings -> a mapping at each -> the sum is the kernel's -> the lines
 *                          | no                 | no
 *                          `--------------------`----> a walk ------> the lines, their beginnings
 *
 * Layout: struct procmap_query in the kernel's include/uapi/linux/fs.h.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: whether questions are permitted, what is known of [vsyscall], and where code began.
 */
#include "modules/code_query.h"

#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/memory_use.h"
#include "sys/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    LINES_MIN = 64,
    LINES_MAX = 4096, /* a compiler at run time has its code in pieces; then the text is as good */
    NAME_BYTES = 4096,
    WRITABLE = 2,
    EXECUTABLE = 4,
    THIS_OR_NEXT = 16,
    KEPT_MAX = 256 /* beginnings */
};

typedef struct question {
    uint64_t size, flags, address;
    uint64_t start, limit, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
} question;

_Static_assert(sizeof(question) == 104, "as the kernel has it");

#define ASK _IOWR('f', 17, question)

enum { UNKNOWN, ABSENT, PRESENT };

static const char vsyscall_name[] = "[vsyscall]";
static const uintptr_t vsyscall_start = UINTPTR_MAX - (10 << 20) + 1; /* x86-64's; a page */

static struct {
    int permitted, forbidden;
    int vsyscall;
    /* Threads may write these at the same time; whoever reads them asks whether they are true. */
    uint64_t start[KEPT_MAX];
    size_t count;
    uint64_t end_ns;
} known;

void pp_code_query_permit(void)
{
    __atomic_store_n(&known.permitted, 1, __ATOMIC_RELAXED);
}

void pp_code_query_forbid(void)
{
    __atomic_store_n(&known.forbidden, 1, __ATOMIC_RELAXED);
}

bool pp_code_query_is_permitted(void)
{
    return __atomic_load_n(&known.permitted, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&known.forbidden, __ATOMIC_RELAXED);
}

void pp_code_query_learn(const char *maps_text)
{
    int found = strstr(maps_text, vsyscall_name) != NULL ? PRESENT : ABSENT;
    __atomic_store_n(&known.vsyscall, found, __ATOMIC_RELAXED);
}

/* The executable mapping at `address`, or with THIS_OR_NEXT the next one. 0, -ENOENT if there is
 * none, or -errno. */
static int query_mapping(int maps, uint64_t address, uint64_t flags, char *name, question *q)
{
    *q = (question){.size = sizeof *q,
                    .flags = EXECUTABLE | flags,
                    .address = address,
                    .name_size = NAME_BYTES,
                    .name = (uintptr_t)name};
    *name = '\0';
    return (int)pp_system_call(SYS_ioctl, maps, ASK, q);
}

typedef struct answers {
    pp_arena *arena;
    pp_map_line *lines;
    size_t count, capacity;
    uint64_t counted; /* bytes that are not writable */
    bool are_all;
} answers;

static bool grow(answers *a)
{
    if (a->count < a->capacity) {
        return true;
    }
    size_t capacity = a->capacity * 2;
    pp_map_line *lines =
        capacity <= LINES_MAX ? pp_arena_array(a->arena, capacity, sizeof *lines) : NULL;
    if (lines != NULL) {
        memcpy(lines, a->lines, a->count * sizeof *lines);
        a->lines = lines;
        a->capacity = capacity;
    }
    return lines != NULL;
}

static bool add(answers *a, const question *q, const char *name)
{
    const char *path = grow(a) ? pp_arena_text(a->arena, name, strlen(name)) : NULL;
    if (path == NULL) {
        return false;
    }
    a->lines[a->count++] = (pp_map_line){.start = (uintptr_t)q->start,
                                         .limit = (uintptr_t)q->limit,
                                         .offset = q->offset,
                                         .executable = true,
                                         .path = path};
    a->counted += (q->vma_flags & WRITABLE) == 0 ? q->limit - q->start : 0;
    return true;
}

/* ---- where it was ---- */

static void keep(const answers *a)
{
    bool fits = a->count <= KEPT_MAX && a->counted == pp_memory_code_bytes();
    for (size_t i = 0; fits && i < a->count; i++) {
        __atomic_store_n(&known.start[i], a->lines[i].start, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&known.count, fits ? a->count : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&known.end_ns, pp_clock_ns(CLOCK_MONOTONIC) + PP_NS_PER_S, __ATOMIC_RELAXED);
}

static bool ask_kept(int maps, answers *a, char *name)
{
    question q = {.limit = 0};
    size_t count = __atomic_load_n(&known.count, __ATOMIC_RELAXED);
    if (count == 0 ||
        pp_clock_ns(CLOCK_MONOTONIC) >= __atomic_load_n(&known.end_ns, __ATOMIC_RELAXED)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t start = __atomic_load_n(&known.start[i], __ATOMIC_RELAXED);
        if (start < q.limit || query_mapping(maps, start, 0, name, &q) != 0 || q.start != start ||
            !add(a, &q, name)) {
            return false;
        }
    }
    return a->counted == pp_memory_code_bytes();
}

/* ---- all ---- */

static bool walk(int maps, answers *a, char *name)
{
    question q;
    int error = 0;
    a->count = a->counted = 0;
    for (uint64_t at = 0; (error = query_mapping(maps, at, THIS_OR_NEXT, name, &q)) == 0;
         at = q.limit) {
        if (!add(a, &q, name)) {
            return false;
        }
    }
    if (error != -ENOENT || a->count == 0) {
        return false;
    }
    keep(a);
    return true;
}

/* x86-64's page of the kernel, which no question finds. */
static bool add_vsyscall(answers *a)
{
    enum { PAGE = 4096 };
    const question page = {.start = vsyscall_start, .limit = vsyscall_start + PAGE};
    return known.vsyscall != PRESENT || add(a, &page, vsyscall_name);
}

static void query(void *of_answers)
{
    answers *a = of_answers;
    char *name = pp_arena_alloc(a->arena, NAME_BYTES);
    int maps =
        a->lines != NULL && name != NULL ? pp_own_open("/proc/self/maps", O_RDONLY, 0) : -ENOMEM;
    if (maps >= 0) {
        a->are_all = (ask_kept(maps, a, name) || walk(maps, a, name)) && add_vsyscall(a);
        pp_own_close(maps);
    }
}

pp_map_line *pp_code_query(pp_arena *arena, size_t *count)
{
    if (!pp_code_query_is_permitted() ||
        __atomic_load_n(&known.vsyscall, __ATOMIC_RELAXED) == UNKNOWN) {
        return NULL;
    }
    answers a = {.arena = arena,
                 .lines = pp_arena_array(arena, LINES_MIN, sizeof *a.lines),
                 .capacity = LINES_MIN};
    pp_apart(query, &a);
    *count = a.count;
    return a.are_all ? a.lines : NULL;
}
