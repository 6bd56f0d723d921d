#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_attach.sh: `cpprof record -p` and `cpprof configure` reach a program that knows nothing of us; it notices
# nothing: no call is interrupted, no register changes, and afterwards its threads, descriptors and signals are as before.
# What cannot work is refused with the remedy, and a killed cpprof does no harm.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc setpriv
cpprof=$BUILD/bin/cpprof

# start NAME COMMAND...: its process is $process, its output NAME.out, its input the fifo NAME.in.
start() {
    start_name=$1
    shift
    mkfifo "$start_name.in"
    "$@" <"$start_name.in" >"$start_name.out" 2>"$start_name.err" &
    process=$!
    started="$started $process"
    exec 3>"$start_name.in"
    wait_until has_line "$start_name.out" ready
}

# over NAME: ends the program, which has noticed nothing and written nothing else.
over() {
    exec 3>&-
    case $1 in alone*) kill -TERM "$process" ;; esac # it has no thread that sees the end of its input
    wait "$process" || fail "$1: ended with $?"
    if grep -q '^disturbed' "$1.out" || [ -s "$1.err" ]; then
        fail "$1 was disturbed: $(cat "$1.out" "$1.err")"
    fi
}

# again N COMMAND...: runs it until it succeeds, at most N times: all threads may be where none can load a library.
again() {
    turns=$1
    shift
    until "$@" >again.out 2>&1; do
        turns=$((turns - 1))
        [ "$turns" -gt 0 ] || fail "$*: $(cat again.out)"
        grep -q 'no thread of process' again.out || fail "$*: $(cat again.out)"
    done
}

# facts FILE: what has to be the same before and after.
facts() {
    {
        ls "/proc/$process/task"
        ls -l "/proc/$process/fd" | sed 's/.*[0-9][0-9]:[0-9][0-9] //'
        grep -E '^(SigBlk|SigIgn|SigCgt|Threads)' "/proc/$process/status"
    } >"$1"
}

is_as_before() {
    facts now
    cmp -s before now
}

signals_are_as_before() {
    facts now
    [ "$(grep '^Sig' before)" = "$(grep '^Sig' now)" ]
}

# says TEXT COMMAND...: the command fails with that text.
says() {
    says_text=$1
    shift
    if "$@" >said 2>&1; then
        fail "expected '$says_text' of $*, it succeeded: $(cat said)"
    fi
    expect_contains "$*" said "$says_text"
}

is_stopped() { grep -q '^State:.*stopped' "/proc/$process/status"; }

# ---- each wait and each kind of work, by the only thread of a program ----

for way in nanosleep poll epoll select sem usleep ppoll registers malloc fork vfork signals threads; do
    start "alone.$way" "$victims/disturbed" alone "$way"
    for _ in 1 2 3; do
        again 5 "$cpprof" configure "$process" log=/dev/null
        again 5 "$cpprof" configure "$process" detach
    done
    over "alone.$way"
done

# ---- all of it at once, while it is profiled ----

start all "$victims/disturbed" nanosleep poll epoll select sem read malloc dlopen fork threads registers
shows() { # FUNCTION FILE KINDS: on a busy machine not every second does
    again 5 "$cpprof" record -p "$process" -e "$3" -d 1 -o all.pb.gz
    go tool pprof -raw "$2" >all.raw
    grep -q "$1" all.raw
}
wait_until shows use_registers all.pb.gz cpu
wait_until shows use_malloc all.heap.pb.gz heap:4k,thread
over all

# ---- what is left behind ----

start quiet "$victims/disturbed" read nanosleep
facts before
for _ in 1 2 3 4 5; do
    again 5 "$cpprof" configure "$process" log=/dev/null
    is_as_before && fail "an attachment that leaves no trace: $(cat now)"
    again 5 "$cpprof" configure "$process" detach
    wait_until is_as_before
done
says "no control socket" "$cpprof" configure "$process" detach
says "no control socket: \`cpprof record -p $process\` attaches to it" "$cpprof" top "pid:$process"
over quiet

# ---- cpprof is killed: in its first steps, while the library is loaded, in the middle of a recording ----

start killed "$victims/disturbed" nanosleep epoll poll registers malloc threads read
facts before
turn=0
while [ $turn -lt 15 ]; do
    turn=$((turn + 1))
    "$cpprof" record -p "$process" -d 30 -o never.pb.gz >killed.log 2>&1 &
    recorder=$!
    sleep "$(awk "BEGIN { print $turn * 0.007 }")"
    kill -KILL $recorder 2>/dev/null || true
    wait $recorder 2>/dev/null || true
done
again 5 "$cpprof" configure "$process" log=/dev/null # the last one may have died before it said `hold`
again 5 "$cpprof" configure "$process" detach
wait_until signals_are_as_before
over killed

# ---- the same while it stays with a thread whose call only the kernel can continue ----

start alone.killed "$victims/disturbed" alone poll
turn=0
while [ $turn -lt 40 ]; do
    turn=$((turn + 1))
    "$cpprof" configure "$process" log=/dev/null >killed.log 2>&1 &
    recorder=$!
    sleep "$(awk "BEGIN { print 0.004 + $turn * 0.0006 }")"
    kill -KILL $recorder 2>/dev/null || true
    wait $recorder 2>/dev/null || true
    again 5 "$cpprof" configure "$process" log=/dev/null
    again 5 "$cpprof" configure "$process" detach
done
over alone.killed

# ---- refusals ----

cat >refused.c <<'EOF'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>
static struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
static struct sock_fprog filter = {1, &all};
static void *confine(void *unused)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(1);
    printf("thread %d\n", (int)gettid());
    puts("ready");
    fflush(stdout);
    pause();
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    char byte;
    if (argc > 2 && strcmp(argv[1], "trace") == 0 && ptrace(PTRACE_SEIZE, atoi(argv[2]), NULL, NULL) != 0)
        return 1;
    if (argc > 1 && strcmp(argv[1], "confine") == 0 &&
        (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0))
        return 1;
    if (argc > 1 && strcmp(argv[1], "confine_thread") == 0) {
        pthread_create(&thread, NULL, confine, NULL);
    } else {
        puts("ready");
        fflush(stdout);
    }
    return read(0, &byte, 1) != 0;
}
EOF
cc -D_GNU_SOURCE -pthread -o refused refused.c
cc -D_GNU_SOURCE -pthread -static -o refused_static refused.c

refused() { # TEXT
    says "$1" "$cpprof" record -p "$process" -d 1 -o refused.pb.gz
    [ ! -e refused.pb.gz ] || fail "a file was written: $1"
}

start static ./refused_static
refused "process $process is a static program, into which nothing can be loaded"
over static
start confined ./refused confine
refused "process $process is under a seccomp filter"
over confined
start confined_thread ./refused confine_thread # its first thread has no filter
refused "thread $(sed -n 's/^thread //p' confined_thread.out) of process $process is under a seccomp filter"
"$cpprof" doctor -p "$process" >doctored || true
expect_contains "doctor" doctored "thread $(sed -n 's/^thread //p' confined_thread.out) of process"
over confined_thread
start stopped ./refused
kill -STOP "$process"
wait_until is_stopped
refused "process $process is stopped: let it go on (kill -CONT $process)"
kill -CONT "$process"
traced=$process
./refused trace "$traced" <"stopped.in" >tracer.out &
tracer=$!
started="$started $tracer"
wait_until has_line tracer.out ready
refused "process $process is traced by process $tracer"
kill -KILL $tracer
wait $tracer 2>/dev/null || true
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    says "another user" setpriv --reuid=65534 --clear-groups "$cpprof" record -p "$process" -d 1 -o /dev/null
fi
over stopped
says "there is no such process" "$cpprof" record -p 2147483647

# ---- a container: other mounts, and other process ids ----

if [ "$(id -u)" = 0 ] && unshare -mpf --mount-proc true 2>/dev/null; then
    start outside unshare -mpf --mount-proc sh -c "mount -t tmpfs none /mnt; exec '$victims/disturbed' registers"
    outside=$process
    process=$(cat "/proc/$outside/task/$outside/children" | tr -d ' ')
    wait_until shows use_registers all.pb.gz cpu
    for left in "/proc/$process/root/tmp"/cpprof-*/libpprof-attach.so; do
        [ ! -e "$left" ] || fail "left in the container: $left"
    done
    process=$outside
    exec 3>&-
    wait "$process" || fail "the container ended with $?"
    grep -q '^disturbed' outside.out && fail "disturbed in a container: $(cat outside.out)"
fi
true
