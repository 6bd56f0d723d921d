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
 * CALL is the system call that does the same (arch/system_call.h), or PP_CALL_NONE. The hook makes it if it is called while
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
    X(open, OPEN, PP_CALL_OPEN)                                                                    \
    X(open64, OPEN, PP_CALL_OPEN)                                                                  \
    X(__open_2, OPEN, PP_CALL_OPEN)                                                                \
    X(__open64_2, OPEN, PP_CALL_OPEN)                                                              \
    X(openat, OPEN, SYS_openat)                                                                    \
    X(openat64, OPEN, SYS_openat)                                                                  \
    X(__openat_2, OPEN, SYS_openat)                                                                \
    X(__openat64_2, OPEN, SYS_openat)                                                              \
    X(creat, OPEN, PP_CALL_CREAT)                                                                  \
    X(creat64, OPEN, PP_CALL_CREAT)                                                                \
    X(open_by_handle_at, OPEN, SYS_open_by_handle_at)                                              \
    X(mkstemp, OPEN, PP_CALL_NONE)                                                                 \
    X(mkstemp64, OPEN, PP_CALL_NONE)                                                               \
    X(mkostemp, OPEN, PP_CALL_NONE)                                                                \
    X(mkostemp64, OPEN, PP_CALL_NONE)                                                              \
    X(mkstemps, OPEN, PP_CALL_NONE)                                                                \
    X(mkstemps64, OPEN, PP_CALL_NONE)                                                              \
    X(mkostemps, OPEN, PP_CALL_NONE)                                                               \
    X(mkostemps64, OPEN, PP_CALL_NONE)                                                             \
    X(shm_open, OPEN, PP_CALL_NONE)                                                                \
    X(mq_open, OPEN, PP_CALL_NONE)                                                                 \
    X(posix_openpt, OPEN, PP_CALL_NONE)                                                            \
    X(getpt, OPEN, PP_CALL_NONE)                                                                   \
    X(fopen, STREAM, PP_CALL_NONE)                                                                 \
    X(fopen64, STREAM, PP_CALL_NONE)                                                               \
    X(popen, STREAM, PP_CALL_NONE)                                                                 \
    X(tmpfile, STREAM, PP_CALL_NONE)                                                               \
    X(tmpfile64, STREAM, PP_CALL_NONE)                                                             \
    X(opendir, FOLDER, PP_CALL_NONE)                                                               \
    X(socket, OPEN, SYS_socket)                                                                    \
    X(accept, OPEN, SYS_accept)                                                                    \
    X(accept4, OPEN, SYS_accept4)                                                                  \
    X(socketpair, PAIR, SYS_socketpair)                                                            \
    X(recvmsg, MESSAGE, SYS_recvmsg)                                                               \
    X(recvmmsg, MESSAGES, SYS_recvmmsg)                                                            \
    X(pipe, PIPE, PP_CALL_PIPE)                                                                    \
    X(pipe2, PIPE, SYS_pipe2)                                                                      \
    X(dup, OPEN, SYS_dup)                                                                          \
    X(dup2, COPY, PP_CALL_DUP2)                                                                    \
    X(dup3, COPY, SYS_dup3)                                                                        \
    X(fcntl, CONTROL, SYS_fcntl)                                                                   \
    X(fcntl64, CONTROL, SYS_fcntl)                                                                 \
    X(epoll_create, OPEN, PP_CALL_EPOLL_CREATE)                                                    \
    X(epoll_create1, OPEN, SYS_epoll_create1)                                                      \
    X(eventfd, OPEN, SYS_eventfd2)                                                                 \
    X(signalfd, SIGNALS, PP_CALL_NONE)                                                             \
    X(timerfd_create, OPEN, SYS_timerfd_create)                                                    \
    X(inotify_init, OPEN, PP_CALL_INOTIFY_INIT)                                                    \
    X(inotify_init1, OPEN, SYS_inotify_init1)                                                      \
    X(fanotify_init, OPEN, SYS_fanotify_init)                                                      \
    X(memfd_create, OPEN, SYS_memfd_create)                                                        \
    X(pidfd_open, OPEN, SYS_pidfd_open)                                                            \
    X(pidfd_getfd, OPEN, SYS_pidfd_getfd)                                                          \
    X(freopen, REOPEN, PP_CALL_NONE)                                                               \
    X(freopen64, REOPEN, PP_CALL_NONE)                                                             \
    X(close, CLOSE, SYS_close)                                                                     \
    X(mq_close, CLOSE, SYS_close)                                                                  \
    X(fclose, STREAMED, PP_CALL_NONE)                                                              \
    X(pclose, STREAMED, PP_CALL_NONE)                                                              \
    X(closedir, FOLDED, PP_CALL_NONE)                                                              \
    X(close_range, RANGE, SYS_close_range)                                                         \
    X(closefrom, ABOVE, PP_CALL_NONE)

#endif
