/* SPDX-License-Identifier: MIT
 *
 * code_query.c: one question for each executable mapping.
 *
 * Layout: struct procmap_query in the kernel's include/uapi/linux/fs.h.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: whether questions are permitted, and what is known of [vsyscall].
 */
#include "modules/code_query.h"

#include "arch/system_call.h"
#include "sys/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    LINES_MIN = 64,
    LINES_MAX = 4096, /* a compiler at run time has its code in pieces; then the text is as good */
    NAME_BYTES = 4096,
    EXECUTABLE = 4,
    THIS_OR_NEXT = 16
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
} known;

void pp_code_query_permit(void)
{
    __atomic_store_n(&known.permitted, 1, __ATOMIC_RELAXED);
}

void pp_code_query_forbid(void)
{
    __atomic_store_n(&known.forbidden, 1, __ATOMIC_RELAXED);
}

static bool is_permitted(void)
{
    return __atomic_load_n(&known.permitted, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&known.forbidden, __ATOMIC_RELAXED);
}

void pp_code_query_learn(const char *maps_text)
{
    int found = strstr(maps_text, vsyscall_name) != NULL ? PRESENT : ABSENT;
    __atomic_store_n(&known.vsyscall, found, __ATOMIC_RELAXED);
}

/* The executable mapping at `address` or after it. 0, -ENOENT if there is none, or -errno. */
static int ask(int maps, uint64_t address, char *name, question *q)
{
    *q = (question){.size = sizeof *q,
                    .flags = EXECUTABLE | THIS_OR_NEXT,
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
    return true;
}

static bool ask_all(int maps, answers *a, char *name)
{
    question q;
    int error = 0;
    for (uint64_t at = 0; (error = ask(maps, at, name, &q)) == 0; at = q.limit) {
        if (!add(a, &q, name)) {
            return false;
        }
    }
    if (error == -ENOENT && known.vsyscall == PRESENT) {
        enum { PAGE = 4096 };
        q.start = vsyscall_start;
        q.limit = vsyscall_start + PAGE;
        q.offset = 0;
        return add(a, &q, vsyscall_name);
    }
    return error == -ENOENT && a->count > 0;
}

pp_map_line *pp_code_query(pp_arena *arena, size_t *count)
{
    if (!is_permitted() || __atomic_load_n(&known.vsyscall, __ATOMIC_RELAXED) == UNKNOWN) {
        return NULL;
    }
    answers a = {.arena = arena,
                 .lines = pp_arena_array(arena, LINES_MIN, sizeof *a.lines),
                 .capacity = LINES_MIN};
    char *name = pp_arena_alloc(arena, NAME_BYTES);
    int maps =
        a.lines != NULL && name != NULL ? pp_own_open("/proc/self/maps", O_RDONLY, 0) : -ENOMEM;
    if (maps < 0) {
        return NULL;
    }
    bool answered = ask_all(maps, &a, name);
    pp_own_close(maps);
    *count = a.count;
    return answered ? a.lines : NULL;
}
