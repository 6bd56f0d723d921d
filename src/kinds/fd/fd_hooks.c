/* SPDX-License-Identifier: MIT
 *
 * fd_hooks.c: the slow path of the hooks of open(), socket(), close() and other functions that open
 * or close descriptors, for the fd profile.
 *
 * A hook looks its real function up at the first call, and all hooks do so when the program is
 * about to create its first thread. A search at load would take longer the more libraries there
 * are. With threads, a signal handler, the child of fork and a thread that a library's constructor
 * waits for must not need the loader's lock. The loader may want memory during the search, from an
 * allocator that opens a file: the hook makes such a call as a bare system call.
 *
 * A closing hook clears the table's slot before it calls the real function, since after that call
 * another thread may have the number already. A close that fails has nothing to close (EBADF), or
 * closes in spite of its error (EINTR, EIO). After that call it waits until a thread of the library that lists or
 * copies the table no longer holds what was closed.
 *
 * A child of vfork has descriptors of its own, but the parent's memory: hooks do not record there.
 *
 * Zone: HOOK. errno and cancellation points are the real function's: a hook holds nothing while it
 *       calls that.
 * Locks: none here; the loader's own.
 * Owns: the hooks.
 * Tested by: e2e.fd
 */
#include "kinds/fd/fd_hooks.h"

#include "arch/system_call.h"
#include "host/process.h"
#include "host/real.h"
#include "kinds/fd/fd_list.h"
#include "kinds/fd/fd_opened.h"
#include "sys/apart.h"
#include "sys/own_threads.h"
#include "sys/own_work.h"
#include "sys/signal_mask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define DECLARE_CODE(symbol, shape_name, call_name)                                                \
    extern pp_fd_function pp_fd_entry_##symbol;                                                    \
    extern pp_fd_function pp_fd_slow_##symbol;
PP_FD_LIST(DECLARE_CODE)

/* The entries read the hooks. */
#define DEFINE_HOOK(symbol, shape_name, call_name)                                                 \
    __attribute__((visibility("hidden"))) pp_fd_hook pp_fd_hook_##symbol = {                       \
        .target = pp_fd_slow_##symbol,                                                             \
        .slow = pp_fd_slow_##symbol,                                                               \
        .entry = pp_fd_entry_##symbol,                                                             \
        .name = #symbol,                                                                           \
        .shape = PP_FD_##shape_name,                                                               \
        .call = (call_name),                                                                       \
    };
PP_FD_LIST(DEFINE_HOOK)

#define ADDRESS_OF_HOOK(symbol, shape_name, call_name) &pp_fd_hook_##symbol,
static pp_fd_hook *const hooks[] = {PP_FD_LIST(ADDRESS_OF_HOOK)};

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum */
#define COUNT_HOOK(symbol, shape_name, call_name) +1
enum { HOOKS = 0 PP_FD_LIST(COUNT_HOOK) };

static bool records;

/* ---- the real functions ---- */

/* Sets the target, and does so again if another thread has changed `records` meanwhile: that thread
 * may have set this target earlier. */
static void aim(pp_fd_hook *hook)
{
    bool on = false;
    do {
        on = __atomic_load_n(&records, __ATOMIC_SEQ_CST);
        __atomic_store_n(&hook->target, on ? hook->slow : hook->real, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&records, __ATOMIC_SEQ_CST) != on);
}

static pp_fd_function *resolve(pp_fd_hook *hook)
{
    pp_fd_function *real = __atomic_load_n(&hook->real, __ATOMIC_ACQUIRE);
    if (real != NULL || pp_thread_marks.finds_descriptor) {
        return real;
    }
    int saved_errno = errno;
    pp_signal_mask old = 0;
    pp_signals_block(&old); /* a handler that jumped out of the loader would leave it locked */
    pp_thread_marks.finds_descriptor = true;
    real = (pp_fd_function *)pp_real_find(hook->name);
    pp_thread_marks.finds_descriptor = false;
    pp_signals_restore(&old);
    errno = saved_errno;
    if (real != NULL) {
        __atomic_store_n(&hook->real, real, __ATOMIC_SEQ_CST);
        aim(hook);
    }
    return real;
}

static bool returns_pointer(const pp_fd_hook *hook)
{
    return hook->shape == PP_FD_STREAM || hook->shape == PP_FD_FOLDER ||
           hook->shape == PP_FD_REOPEN;
}

static long call_kernel(const pp_fd_call *call)
{
    const uintptr_t *a = call->argument;
    int number = call->hook->call;
    long result = number >= 0 ? pp_system_call(number, a[0], a[1], a[2], a[3], a[4], a[5])
                              : pp_call_missing(number, a);
    if (result < 0) {
        errno = (int)-result;
        return returns_pointer(call->hook) ? 0 : -1;
    }
    return result;
}

/* ---- what is opened ---- */

static void opened(const pp_fd_call *call, int fd)
{
    const pp_caller caller = {.leaf = (uintptr_t)call->hook->entry,
                              .return_address = call->return_address,
                              .sp = (uintptr_t)(call + 1),
                              .fp = call->fp,
                              .bx = call->bx};
    if (fd >= 0) {
        pp_fd_opened(fd, &caller);
    }
}

static void opened_two(const pp_fd_call *call, const int *pair)
{
    opened(call, pair[0]);
    opened(call, pair[1]);
}

/* musl's macro mixes signed and unsigned numbers. */
static struct cmsghdr *next_part(struct msghdr *message, struct cmsghdr *part)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
    return CMSG_NXTHDR(message, part);
#pragma GCC diagnostic pop
}

/* Records the descriptors that another process, or this one, has sent. */
static void opened_by_message(const pp_fd_call *call, struct msghdr *message)
{
    struct cmsghdr *part = message->msg_control != NULL ? CMSG_FIRSTHDR(message) : NULL;
    for (; part != NULL; part = next_part(message, part)) {
        size_t bytes = part->cmsg_len - CMSG_LEN(0);
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
            int fd = -1;
            memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
            opened(call, fd);
        }
    }
}

static void opened_by_messages(const pp_fd_call *call, int count)
{
    struct mmsghdr *messages = (struct mmsghdr *)call->argument[1];
    for (int i = 0; i < count; i++) {
        opened_by_message(call, &messages[i].msg_hdr);
    }
}

static bool copies(const pp_fd_call *call)
{
    int command = (int)call->argument[1];
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

static int number_of_stream(uintptr_t stream)
{
    return stream != 0 ? fileno((FILE *)stream) : -1;
}

static int number_of_folder(uintptr_t folder)
{
    return folder != 0 ? dirfd((DIR *)folder) : -1;
}

static void after(const pp_fd_call *call, long result)
{
    const uintptr_t *a = call->argument;
    int fd = (int)result;
    switch (call->hook->shape) {
    case PP_FD_OPEN:
        opened(call, fd);
        break;
    case PP_FD_STREAM:
        opened(call, number_of_stream((uintptr_t)result));
        break;
    case PP_FD_REOPEN:
        opened(call, number_of_stream((uintptr_t)result));
        pp_apart_wait_for_release();
        break;
    case PP_FD_FOLDER:
        opened(call, number_of_folder((uintptr_t)result));
        break;
    case PP_FD_PIPE:
    case PP_FD_PAIR:
        if (fd == 0) {
            opened_two(call, (const int *)a[call->hook->shape == PP_FD_PIPE ? 0 : 3]);
        }
        break;
    case PP_FD_COPY:
        opened(call, (int)a[0] != fd ? fd : -1);
        pp_apart_wait_for_release(); /* for what dup2() has closed */
        break;
    case PP_FD_CONTROL:
        opened(call, copies(call) ? fd : -1);
        break;
    case PP_FD_SIGNALS:
        opened(call, (int)a[0] == -1 ? fd : -1);
        break;
    case PP_FD_MESSAGE:
        if (result >= 0) {
            opened_by_message(call, (struct msghdr *)a[1]);
        }
        break;
    case PP_FD_MESSAGES:
        opened_by_messages(call, fd);
        break;
    case PP_FD_CLOSE:
    case PP_FD_STREAMED:
    case PP_FD_FOLDED:
    case PP_FD_RANGE:
    case PP_FD_ABOVE:
        pp_apart_wait_for_release();
        break;
    }
}

/* ---- what is closed ---- */

static void closed(int fd)
{
    if (fd >= 0) {
        pp_fd_closed((unsigned)fd, (unsigned)fd);
    }
}

static void before(const pp_fd_call *call)
{
    const uintptr_t *a = call->argument;
    switch (call->hook->shape) {
    case PP_FD_CLOSE:
        closed((int)a[0]);
        break;
    case PP_FD_STREAMED:
        closed(number_of_stream(a[0]));
        break;
    case PP_FD_REOPEN:
        closed(number_of_stream(a[2]));
        break;
    case PP_FD_FOLDED:
        closed(number_of_folder(a[0]));
        break;
    case PP_FD_RANGE:
        if (((unsigned)a[2] & CLOSE_RANGE_CLOEXEC) == 0) {
            pp_fd_closed((unsigned)a[0], (unsigned)a[1]);
        }
        break;
    case PP_FD_ABOVE:
        pp_fd_closed((int)a[0] > 0 ? (unsigned)a[0] : 0, UINT32_MAX);
        break;
    default:
        break;
    }
}

/* ---- every call ---- */

long pp_fd_slow(const pp_fd_call *call);

__attribute__((visibility("hidden"), used)) long pp_fd_slow(const pp_fd_call *call)
{
    const uintptr_t *a = call->argument;
    int saved_errno = errno;
    pp_fd_function *real = resolve(call->hook);
    bool recorded = __atomic_load_n(&records, __ATOMIC_RELAXED) && pp_hook_is_owner() &&
                    !pp_own_work_has((uintptr_t)call);
    if (recorded) {
        before(call);
    }
    errno = saved_errno;
    long result = real != NULL ? real(a[0], a[1], a[2], a[3], a[4], a[5]) : call_kernel(call);
    if (recorded) {
        saved_errno = errno;
        after(call, result);
        errno = saved_errno;
    }
    return result;
}

void pp_fd_hooks_record(bool on)
{
    __atomic_store_n(&records, on, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < HOOKS; i++) {
        if (__atomic_load_n(&hooks[i]->real, __ATOMIC_SEQ_CST) != NULL) {
            aim(hooks[i]);
        }
    }
}

bool pp_fd_hooks_are_recording(void)
{
    return __atomic_load_n(&records, __ATOMIC_RELAXED);
}

void pp_fd_hooks_find_real(void)
{
    for (size_t i = 0; i < HOOKS; i++) {
        resolve(hooks[i]);
    }
}

const pp_sampler pp_fd_sampler = {
    .on = {[PP_THREAD_IS_FIRST] = pp_fd_hooks_find_real},
};
