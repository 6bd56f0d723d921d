/* SPDX-License-Identifier: MIT
 *
 * descriptor_list.h: every function that opens or closes descriptors and that is hooked, a line
 * each.
 *
 *   X(NAME, SHAPE, CALL)
 *
 *   SHAPE      what is opened, where it succeeds          what is closed, whether it does or not
 *   OPEN       the result
 *   STREAM     that of the FILE that is the result
 *   FOLDER     that of the DIR that is the result
 *   PIPE       the two at the first argument
 *   PAIR       the two at the fourth argument
 *   COPY       the result, unless it is the first argument
 *   CONTROL    the result, if the second argument asks for a copy
 *   SIGNALS    the result, if the first argument is -1
 *   MESSAGE    what the message at the second argument brings
 *   MESSAGES   what the messages there bring, as many as the result says
 *   REOPEN     that of the FILE that is the result        that of the FILE that is the third argument
 *   CLOSE                                                 the first argument
 *   STREAMED                                              that of the FILE that is the first argument
 *   FOLDED                                                that of the DIR that is the first argument
 *   RANGE                                                 first to second argument, unless the third
 *                                                         says otherwise
 *   ABOVE                                                 the first argument and all above it
 *
 * CALL is the system call that does the same, for calls that come while the loader is asked for the
 * real function (from an allocator that it wants memory of); or `none`.
 *
 * Left out is what the program cannot keep open: functions that close what they open before they
 * return.
 *
 * Read by C (hook/) and by the assembler beside it.
 *
 * Zone: HOOK (no code).
 */
#ifndef PP_ARCH_FD_LIST_H
#define PP_ARCH_FD_LIST_H

#define PP_DESCRIPTOR_LIST(X)                                                                      \
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
