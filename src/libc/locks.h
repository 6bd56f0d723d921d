/* SPDX-License-Identifier: MIT
 *
 * locks.h: what the C library's mutexes and rwlocks look like, and which lock functions it has.
 *
 * Each library has its own layout, and its own functions. Its header defines:
 *   pp_mutex_...(), pp_rwlock_writer()    what the slow path asks of a lock
 *   PP_WAIT_NEWER_LIST, PP_WAIT_OLD_LIST  functions that not every library has, or has twice
 * The entries of the hooks look at a lock before they call anything: libc/x86_64_locks.inc. What
 * `cpprof dump` reads in another process, which may have another library, is in
 * kinds/threads/lock_waits.c.
 *
 * Zone: HOOK.
 */
#ifndef PP_LIBC_LOCKS_H
#define PP_LIBC_LOCKS_H

#ifdef PP_MUSL
#include "libc/musl_locks.h"
#else
#include "libc/glibc_locks.h"
#endif

#endif
