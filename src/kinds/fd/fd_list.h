/* SPDX-License-Identifier: MIT
 *
 * fd_list.h: lists every hooked function that opens or closes descriptors, one line each.
 *
 *   X(NAME, SHAPE, CALL)
 *
 *   SHAPE      what is opened, if it succeeds             what is closed, even if it fails
 *   OPEN       the result
 *   STREAM     the descriptor of the FILE in the result
 *   FOLDER     the descriptor of the DIR in the result
 *   PIPE       the two at the first argument
 *   PAIR       the two at the fourth argument
 *   COPY       the result, unless it is the first argument
 *   CONTROL    the result, if the second argument asks for a copy
 *   SIGNALS    the result, if the first argument is -1
 *   MESSAGE    those in the message at the second argument
 *   MESSAGES   those in the messages at the second
 *              argument, whose number is the result
 *   REOPEN     the descriptor of the FILE in the result   that of the FILE in the third argument
 *   CLOSE                                                 the first argument
 *   STREAMED                                              that of the FILE in the first argument
 *   FOLDED                                                that of the DIR in the first argument
 *   RANGE                                                 first to second argument, unless the
 *                                                         third says otherwise
 *   ABOVE                                                 the first argument and all above it
 *
 * CALL is the system call that does the same, or `none`. The hook makes it if it is called while
 * the loader looks up the real function (by an allocator from which the loader wants memory).
 *
 * The list omits functions by which the program cannot keep a descriptor open, because they close
 * it before they return.
 *
 * fd_hooks.c and the assembler beside it include this file.
 *
 * Zone: HOOK (no code).
 */
#ifndef PP_KINDS_FD_FD_LIST_H
#define PP_KINDS_FD_FD_LIST_H

#define PP_FD_LIST(X)                                                                              \
    X(open, OPEN, open)                                                                            \
    X(open64, OPEN, open)                                                                          \
    X(__open_2, OPEN, open)                                                                        \
    X(__open64_2, OPEN, open)                                                                      \
    X(openat, OPEN, openat)                                                                        \
    X(openat64, OPEN, openat)                                                                      \
    X(__openat_2, OPEN, openat)                                                                    \
    X(__openat64_2, OPEN, openat)                                                                  \
    X(creat, OPEN, creat)                                                                          \
    X(creat64, OPEN, creat)                                                                        \
    X(open_by_handle_at, OPEN, open_by_handle_at)                                                  \
    X(mkstemp, OPEN, none)                                                                         \
    X(mkstemp64, OPEN, none)                                                                       \
    X(mkostemp, OPEN, none)                                                                        \
    X(mkostemp64, OPEN, none)                                                                      \
    X(mkstemps, OPEN, none)                                                                        \
    X(mkstemps64, OPEN, none)                                                                      \
    X(mkostemps, OPEN, none)                                                                       \
    X(mkostemps64, OPEN, none)                                                                     \
    X(shm_open, OPEN, none)                                                                        \
    X(mq_open, OPEN, none)                                                                         \
    X(posix_openpt, OPEN, none)                                                                    \
    X(getpt, OPEN, none)                                                                           \
    X(fopen, STREAM, none)                                                                         \
    X(fopen64, STREAM, none)                                                                       \
    X(popen, STREAM, none)                                                                         \
    X(tmpfile, STREAM, none)                                                                       \
    X(tmpfile64, STREAM, none)                                                                     \
    X(opendir, FOLDER, none)                                                                       \
    X(socket, OPEN, socket)                                                                        \
    X(accept, OPEN, accept)                                                                        \
    X(accept4, OPEN, accept4)                                                                      \
    X(socketpair, PAIR, socketpair)                                                                \
    X(recvmsg, MESSAGE, recvmsg)                                                                   \
    X(recvmmsg, MESSAGES, recvmmsg)                                                                \
    X(pipe, PIPE, pipe)                                                                            \
    X(pipe2, PIPE, pipe2)                                                                          \
    X(dup, OPEN, dup)                                                                              \
    X(dup2, COPY, dup2)                                                                            \
    X(dup3, COPY, dup3)                                                                            \
    X(fcntl, CONTROL, fcntl)                                                                       \
    X(fcntl64, CONTROL, fcntl)                                                                     \
    X(epoll_create, OPEN, epoll_create)                                                            \
    X(epoll_create1, OPEN, epoll_create1)                                                          \
    X(eventfd, OPEN, eventfd2)                                                                     \
    X(signalfd, SIGNALS, none)                                                                     \
    X(timerfd_create, OPEN, timerfd_create)                                                        \
    X(inotify_init, OPEN, inotify_init)                                                            \
    X(inotify_init1, OPEN, inotify_init1)                                                          \
    X(fanotify_init, OPEN, fanotify_init)                                                          \
    X(memfd_create, OPEN, memfd_create)                                                            \
    X(pidfd_open, OPEN, pidfd_open)                                                                \
    X(pidfd_getfd, OPEN, pidfd_getfd)                                                              \
    X(freopen, REOPEN, none)                                                                       \
    X(freopen64, REOPEN, none)                                                                     \
    X(close, CLOSE, close)                                                                         \
    X(mq_close, CLOSE, close)                                                                      \
    X(fclose, STREAMED, none)                                                                      \
    X(pclose, STREAMED, none)                                                                      \
    X(closedir, FOLDED, none)                                                                      \
    X(close_range, RANGE, close_range)                                                             \
    X(closefrom, ABOVE, none)

#endif
