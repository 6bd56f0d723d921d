/* SPDX-License-Identifier: MIT
 *
 * waits_real.c: finds the real functions of the hooks of waits.c.
 *
 * A hook looks its real function up at the first call, and all hooks do so before there is a second
 * thread. A search at load would take longer the more libraries there are. The loader may lock
 * during a search (an allocator's mutex, in the loader's malloc). Such a call finds that its thread
 * searches already, and uses libc's internal name, which the basic functions have.
 *
 * Zone: HOOK.
 * Locks: none here; the loader's own.
 * Owns: the hooks.
 * Tested by: e2e.hooks, e2e.old_conditions
 */
#include "kinds/contention/waits.h"

#include "arch/registers.h"
#include "host/real.h"
#include "kinds/contention/wait_list.h"
#include "modules/libc.h"
#include "sys/own_threads.h"
#include "sys/signal_mask.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define DECLARE_CODE(symbol, shape_name, try_symbol, limit_name)                                   \
    extern pp_wait_function pp_entry_##symbol;                                                     \
    extern pp_wait_function pp_count_##symbol;                                                     \
    extern pp_wait_function pp_slow_##symbol;
PP_WAIT_LIST(DECLARE_CODE)

#define DECLARE_OLD_CODE(symbol, shape_name, try_symbol, limit_name)                               \
    DECLARE_CODE(old_##symbol, shape_name, try_symbol, limit_name)
PP_WAIT_OLD_LIST(DECLARE_OLD_CODE)

#define DEFINE_VERSION(symbol, name_string, version_string, shape_name, try_symbol, limit_name)    \
    pp_wait_hook pp_wait_hook_##symbol = {                                                         \
        .real = pp_slow_##symbol,                                                                  \
        .target = pp_slow_##symbol,                                                                \
        .counting = pp_count_##symbol,                                                             \
        .entry = pp_entry_##symbol,                                                                \
        .name = (name_string),                                                                     \
        .version = (version_string),                                                               \
        .try_name = #try_symbol,                                                                   \
        .shape = PP_WAIT_##shape_name,                                                             \
        .limit = PP_WAIT_##limit_name,                                                             \
    };
#define DEFINE_HOOK(symbol, shape, try, limit)                                                     \
    DEFINE_VERSION(symbol, #symbol, NULL, shape, try, limit)
PP_WAIT_LIST(DEFINE_HOOK)

#define OLD_VERSION "GLIBC_2.2.5"
#define DEFINE_OLD_HOOK(symbol, shape, try, limit)                                                 \
    DEFINE_VERSION(old_##symbol, #symbol, OLD_VERSION, shape, try, limit)
PP_WAIT_OLD_LIST(DEFINE_OLD_HOOK)

#define ADDRESS_OF_HOOK(symbol, shape, try, limit)     &pp_wait_hook_##symbol,
#define ADDRESS_OF_OLD_HOOK(symbol, shape, try, limit) &pp_wait_hook_old_##symbol,
static pp_wait_hook *const hooks[] = {PP_WAIT_LIST(ADDRESS_OF_HOOK)
                                          PP_WAIT_OLD_LIST(ADDRESS_OF_OLD_HOOK)};

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum */
#define COUNT_HOOK(symbol, shape, try, limit) +1
enum { HOOKS = 0 PP_WAIT_LIST(COUNT_HOOK) PP_WAIT_OLD_LIST(COUNT_HOOK) };

typedef struct internal {
    const pp_wait_hook *hook;
    const char *name; /* libc's internal one */
} internal;

bool pp_hook_waits_counted;

static pp_wait_function *find_internal(const pp_wait_hook *hook)
{
    const internal internals[] = {
        {&pp_wait_hook_pthread_mutex_lock, "__pthread_mutex_lock"},
        {&pp_wait_hook_pthread_mutex_unlock, "__pthread_mutex_unlock"},
        {&pp_wait_hook_pthread_rwlock_rdlock, "__pthread_rwlock_rdlock"},
        {&pp_wait_hook_pthread_rwlock_wrlock, "__pthread_rwlock_wrlock"},
        {&pp_wait_hook_pthread_rwlock_unlock, "__pthread_rwlock_unlock"},
    };
    for (size_t i = 0; i < sizeof internals / sizeof *internals; i++) {
        if (internals[i].hook == hook) {
            return (pp_wait_function *)pp_libc_function(internals[i].name);
        }
    }
    return NULL;
}

static bool has_old_version(const char *name)
{
#define NAME_OF_OLD(symbol, shape, try, limit) #symbol,
    static const char *const names[] = {PP_WAIT_OLD_LIST(NAME_OF_OLD) NULL};
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Finds the next function of this name after libpprof's. Old loaders find libc's old version first:
 * then the new one is used instead. Nothing is searched that may not exist, since the loader would
 * allocate for its error message. */
static void *lookup_symbol(const char *name, const char *version)
{
    if (version != NULL) {
        return pp_real_find_version(name, version);
    }
    void *found = pp_real_find(name);
    if (has_old_version(name) && found == pp_real_find_version(name, OLD_VERSION)) {
        return pp_real_find_version(name, "GLIBC_2.3.2");
    }
    return found;
}

/* What another thread has aimed meanwhile, by a newer answer, is not undone. */
static void aim(pp_wait_hook *hook)
{
    bool count = false;
    do {
        count = __atomic_load_n(&pp_hook_waits_counted, __ATOMIC_SEQ_CST);
        __atomic_store_n(&hook->target, count ? hook->counting : hook->real, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&pp_hook_waits_counted, __ATOMIC_SEQ_CST) != count);
}

bool pp_wait_resolve(pp_wait_hook *hook)
{
    if (__atomic_load_n(&hook->resolved, __ATOMIC_ACQUIRE)) {
        return true;
    }
    if (pp_thread_marks.finds_wait) {
        pp_wait_function *function = find_internal(hook);
        if (function == NULL) {
            return false;
        }
        /* Only this call uses it; the next one searches again. */
        __atomic_store_n(&hook->real, function, __ATOMIC_RELAXED);
        return true;
    }
    int saved_errno = errno;
    pp_signal_mask old = 0;
    pp_signals_block(&old); /* a handler that jumped out of the loader would leave it locked */
    pp_thread_marks.finds_wait = true;
    pp_wait_function *real = (pp_wait_function *)lookup_symbol(hook->name, hook->version);
    if (strcmp(hook->try_name, "none") != 0) {
        __atomic_store_n(&hook->try, (pp_wait_function *)lookup_symbol(hook->try_name, NULL),
                         __ATOMIC_RELAXED);
    }
    pp_thread_marks.finds_wait = false;
    pp_signals_restore(&old);
    errno = saved_errno;
    if (real == NULL) {
        return false;
    }
    __atomic_store_n(&hook->real, real, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->resolved, true, __ATOMIC_RELEASE);
    aim(hook);
    return true;
}

void pp_hook_waits_prepare_for_threads(void)
{
    for (size_t i = 0; i < HOOKS; i++) {
        pp_wait_resolve(hooks[i]);
    }
}

static uintptr_t real_of(void *hook)
{
    return pp_wait_resolve(hook) ? (uintptr_t)((pp_wait_hook *)hook)->real : 0;
}

/* The functions of which a program may make most calls; none has an old version. They are resolved
 * here: what pp_hook_waits_count() says is true of calls without a slot, too. A rwlock's entry that
 * leaves a mark (pp_call_mark, arch/hook_layout.h) is needed all the time. */
size_t pp_hook_waits_list_called(pp_called_hook *list, size_t capacity)
{
    static pp_wait_hook *const often[] = {
        &pp_wait_hook_pthread_mutex_lock,
        &pp_wait_hook_pthread_mutex_unlock,
        &pp_wait_hook_pthread_rwlock_unlock,
        &pp_wait_hook_pthread_spin_lock,
        &pp_wait_hook_pthread_spin_unlock,
#if PP_RETURN_ON_STACK
        &pp_wait_hook_pthread_rwlock_rdlock,
        &pp_wait_hook_pthread_rwlock_wrlock,
#endif
        NULL
    };
    size_t used = 0;
    for (size_t i = 0; often[i] != NULL && used < capacity; i++) {
        pp_wait_resolve(often[i]);
        list[used++] = (pp_called_hook){.name = often[i]->name,
                                        .entry = (uintptr_t)often[i]->entry,
                                        .find_real = real_of,
                                        .hook = often[i],
                                        .is_needed = pp_hook_waits_counted};
    }
    return used;
}

/* Resolves the hooks first: a processor that has seen an entry's jump go to the slow path predicts
 * it at greater cost from then on. */
void pp_hook_waits_count(bool on)
{
    if (on) {
        pp_hook_waits_prepare_for_threads();
    }
    __atomic_store_n(&pp_hook_waits_counted, on, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < HOOKS; i++) {
        if (__atomic_load_n(&hooks[i]->resolved, __ATOMIC_ACQUIRE)) {
            aim(hooks[i]);
        }
    }
}
