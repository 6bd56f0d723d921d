/* SPDX-License-Identifier: MIT
 *
 * omitted_functions.c: names of allocators' functions and of thread roots.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "symbol/omitted_functions.h"

#include "arch/shown_as.h"
#include "base/path.h"
#include "symbol/malloc_list.h"

#include <stddef.h>
#include <string.h>

/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's */
PP_TABLE(pp_allocators)

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* One text needs no relocations: "malloc\0MALLOC\0free\0FREE\0..." */
#define NAME_AND_SHAPE(name, shape) #name "\0" #shape "\0"
static const char libc_hooks[] = PP_MALLOC_LIST_LIBC(NAME_AND_SHAPE) "reallocarray\0RESIZE\0";
static const char other_hooks[] = PP_MALLOC_LIST_OTHERS(NAME_AND_SHAPE);

static bool only_frees(const char *shape)
{
    static const char *const shapes[] = {"FREE", "RELEASE", "DELETE"};
    return is_one_of(shape, shapes, sizeof shapes / sizeof *shapes);
}

static bool allocates(const char *name, const char *hooks)
{
    for (const char *hook = hooks; *hook != '\0';) {
        const char *shape = hook + strlen(hook) + 1;
        if (strcmp(hook, name) == 0) {
            return !only_frees(shape);
        }
        hook = shape + strlen(shape) + 1;
    }
    return false;
}

/* True for every form of operator new; debug information has the name of the last test. */
static bool is_operator_new(const char *name)
{
    return begins_with(name, "_Znw") || begins_with(name, "_Zna") ||
           begins_with(name, "operator new");
}

bool pp_symbol_is_allocator(const char *name, bool is_local)
{
    if (is_operator_new(name) || allocates(name, other_hooks)) {
        return true;
    }
    if (begins_with(name, "__libc_")) {
        return allocates(name + strlen("__libc_"), libc_hooks);
    }
    return !is_local && allocates(begins_with(name, "__") ? name + 2 : name, libc_hooks);
}

bool pp_code_is_allocator(uintptr_t address)
{
    const pp_shown_as *row = __start_pp_allocators;
    while (row != __stop_pp_allocators &&
           (address < pp_row_address(&row->function) || address >= pp_row_address(&row->entry))) {
        row++;
    }
    return row != __stop_pp_allocators;
}

bool pp_file_is_allocator(const char *path)
{
    static const char *const libraries[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};
    const char *file = pp_base_name(path);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (begins_with(file, libraries[i])) {
            return true;
        }
    }
    return false;
}

pp_thread_root pp_symbol_thread_root(const char *name, unsigned code_of)
{
    static const char *const clones[] = {"clone", "clone3", "__clone", "__clone3"};
    if ((code_of & (PP_CODE_OF_PROGRAM | PP_CODE_OF_LOADER)) != 0 && strcmp(name, "_start") == 0) {
        return PP_ROOT_ENTRY;
    }
    if ((code_of & PP_CODE_OF_LIBC) == 0) {
        return PP_ROOT_NONE;
    }
    if (strcmp(name, "start_thread") == 0) {
        return PP_ROOT_THREAD;
    }
    return is_one_of(name, clones, sizeof clones / sizeof *clones) ? PP_ROOT_CLONE : PP_ROOT_NONE;
}
