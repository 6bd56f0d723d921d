#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_tree.sh: `cpprof record` follows the processes that its command starts: by fork, vfork, posix_spawn and
# exec, in every environment that keeps LD_PRELOAD. One profile has them all, labelled; who is not in it is named with
# the CPU time that the kernel knows. Nothing is left.
# timeout: 600
# nightly: 1
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go
own_programs /bin/true
cpprof=$BUILD/bin/cpprof

cat >works.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile unsigned sink;

/* NAME(ms) uses so much CPU time. */
#define WORKER(name)                                                                   \
    __attribute__((noinline)) void name(long ms)                                       \
    {                                                                                  \
        struct timespec now;                                                           \
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);                                 \
        long long end = now.tv_sec * 1000000000LL + now.tv_nsec + ms * 1000000LL;      \
        do {                                                                           \
            for (int i = 0; i < 1000; i++)                                             \
                sink += i;                                                             \
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);                             \
        } while (now.tv_sec * 1000000000LL + now.tv_nsec < end);                       \
    }
WORKER(first_works)
WORKER(child_works)
WORKER(before_exec_works)

static int await(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* works WAY PROGRAM [ARGUMENT]...: starts the program in that way, and waits for it. */
int main(int argc, char **argv)
{
    const char *way = argv[1];
    char **command = argv + 2;
    char *cleared[] = {"HOME=/", NULL};
    pid_t child = 0;
    (void)argc;
    if (!strcmp(way, "work")) {
        close(creat("pid", 0600));
        child_works(atol(argv[2]));
        return 0;
    }
    if (!strcmp(way, "until")) { /* a file is there */
        FILE *pid = fopen("pid.new", "w");
        fprintf(pid, "%d\n", (int)getpid());
        fclose(pid);
        rename("pid.new", "pid");
        while (access(argv[2], F_OK) != 0)
            child_works(20);
        return 0;
    }
    if (!strcmp(way, "killed")) {
        child_works(atol(argv[2]));
        raise(SIGKILL);
    }
    if (!strcmp(way, "confined")) {
        prctl(PR_SET_SECCOMP, 1); /* read, write, exit */
        for (long i = 0; i < atol(argv[2]) * 200000; i++)
            sink += i;
        syscall(SYS_exit, 0);
    }
    first_works(50);
    if (!strcmp(way, "fork")) { /* without an exec */
        if ((child = fork()) == 0) {
            child_works(100);
            _exit(0);
        }
    } else if (!strcmp(way, "fork-exec")) {
        if ((child = fork()) == 0) {
            before_exec_works(60);
            execv(command[0], command);
            _exit(127);
        }
    } else if (!strcmp(way, "vfork")) {
        if ((child = vfork()) == 0) {
            execvp(command[0], command);
            _exit(127);
        }
    } else if (!strcmp(way, "vfork-cleared")) {
        if ((child = vfork()) == 0) {
            execve(command[0], command, cleared);
            _exit(127);
        }
    } else if (!strcmp(way, "spawn")) {
        if (posix_spawn(&child, command[0], NULL, NULL, command, environ))
            return 3;
    } else if (!strcmp(way, "spawnp")) {
        if (posix_spawnp(&child, command[0], NULL, NULL, command, environ))
            return 3;
    } else if (!strcmp(way, "spawn-cleared")) {
        if (posix_spawn(&child, command[0], NULL, NULL, command, cleared))
            return 3;
    } else if (!strcmp(way, "leave")) { /* does not wait, only for its first steps */
        int error = posix_spawn(&child, command[0], NULL, NULL, command, environ);
        while (!error && access("pid", F_OK) != 0)
            usleep(10000);
        return error;
    } else {
        return 4;
    }
    return await(child);
}
C
cc -O1 -g -fomit-frame-pointer -o works works.c
cp works other
here=$work

# record NAME OPTIONS... -- COMMAND...: a profile at 1000 Hz.
record() {
    record_name=$1
    shift
    record_status=0
    "$cpprof" record -F 1000 -o "$record_name.pb.gz" "$@" >out 2>err || record_status=$?
    [ ! -e "$record_name.pb.gz" ] || raw "$record_name.pb.gz"
    expect_equal "$record_name: folders that are left" "" "$(find . -name '.cpprof-*')"
}

# time_of NAME LABEL VALUE: milliseconds of the samples with that label, as Go's tool adds them up.
time_of() {
    go tool pprof -tagfocus "$2=^$3\$" -raw "$1.pb.gz" 2>/dev/null | awk '
        $1 == "Samples:" { on = 1; next } $1 == "Locations" { on = 0 }
        on && $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+:$/ { sum += $1 } END { print sum + 0 }'
}

# ---- who is followed

for way in fork-exec vfork spawn spawnp; do
    record $way -- ./works $way ./other work 100
    expect_equal "status of $way" 0 $record_status
    expect_contains "$way" err "(2 processes)"
    expect_near "$way: the first" 50 "$(time_of $way process works)" 80
    expect_near "$way: the child" 100 "$(time_of $way process other)" 60
    expect_near "$way: child_works" 100 "$(weight_with $way.pb.gz.raw child_works)" 60
    ! has_text err "not in the profile" || fail "$way: $(cat err)"
done
# What a child of fork does before its exec is in the profile, under its first name.
expect_near "before the exec" 60 "$(weight_with fork-exec.pb.gz.raw before_exec_works)" 40
expect_at_least "before the exec: its label" 80 "$(time_of fork-exec process works)"

record fork -- ./works fork
expect_contains "fork" err "(2 processes)"
expect_near "fork: child_works" 100 "$(weight_with fork.pb.gz.raw child_works)" 60
expect_at_least "fork: one name" 120 "$(time_of fork process works)"

record shell -- sh -c './works spawn ./other work 60 | cat; ./other work 60 & wait; (exec ./other work 60); exit 7'
expect_equal "status of a shell" 7 $record_status
expect_near "a shell: other" 180 "$(time_of shell process other)" 100
expect_contains "a shell" err "By process:"
"$cpprof" top --tagfocus process=other shell.pb.gz >top
expect_contains "a filter by process" top "child_works"
! has_text top first_works || fail "a filter by process: $(cat top)"
"$cpprof" tags shell.pb.gz >tags
expect_contains "tags" tags ": other"

# env -i is a program that executes another one: the library goes along.
record cleaned -- sh -c 'env -i ./other work 100; exit 0'
expect_near "env -i" 100 "$(time_of cleaned process other)" 60

# The program's own preload stays.
LD_PRELOAD=libc.so.6 record preloads -- sh -c './other work 60; exit 0'
expect_near "with a preload" 60 "$(time_of preloads process other)" 50

# ---- labels and options

record pids --pid-label -- sh -c './other work 60; ./other work 60; exit 0'
"$cpprof" tags pids.pb.gz >tags
expect_at_least "process ids" 2 "$(sed -n '/ pid:/,$p' tags | grep -c ':  *[0-9]')"
record alone --no-subprocesses -- sh -c './other work 100; exit 0'
expect_equal "without subprocesses" 0 "$(weight_with alone.pb.gz.raw child_works)"
expect_contains "without subprocesses" err "(1 process)"
"$cpprof" tags alone.pb.gz >tags
! has_text tags process || fail "a label without subprocesses"
record same --subprocesses -- sh -c './other work 60; exit 0'
expect_near "--subprocesses" 60 "$(time_of same process other)" 50
expect_equal "both options" 2 "$(status "$cpprof" record --subprocesses --no-subprocesses true 2>err)"

# A label of that name that the program has set stays.
cat >labels.c <<'C'
#include <pprof.h>
#include <stddef.h>
extern int main(void);
static volatile unsigned sink;
static void work(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 300000000; i++)
        sink += i;
}
int main(void)
{
    const char *const pairs[] = {"process", "mine"};
    pprof_do(pairs, 1, work, NULL);
    return 0;
}
C
if cc -O1 -I"$SRC/include" -o labels labels.c "$library" 2>err; then
    LD_LIBRARY_PATH=$BUILD/lib record labels ./labels
    expect_at_least "the program's own label" 20 "$(time_of labels process mine)"
fi

# All kinds, and the exec chains in one process.
"$cpprof" record -e cpu,heap:1,block,mutex,thread,fd -F 1000 -o kinds.pb.gz sh -c './other work 60; exec ./works spawn ./other work 60' \
    2>err || fail "kinds: $(cat err)"
for kind in cpu heap thread fd; do
    raw kinds.$kind.pb.gz
    "$cpprof" tags kinds.$kind.pb.gz >tags
    expect_contains "$kind: tags" tags "process: Total"
done
expect_near "a chain: the last program" 50 "$(time_of kinds.cpu process works)" 80

# The profile begins with the command's program.
record order -- ./works spawn ./other work 10
"$cpprof" top order.pb.gz >top
expect_contains "the first program" top "File: works"

# Many short ones: those without a sample are in no comment, and leave nothing.
record short -- sh -c 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
expect_contains "200 processes" err "(201 processes)"

# ---- the duration is that of all

record duration -d 5 -- sh -c './works until go & ./other work 60; sleep 6; ./other work 100; touch go; wait'
expect_near "the duration: before" 60 "$(time_of duration process other)" 50
expect_at_least "the duration: meanwhile" 20 "$(time_of duration process works)"

# ---- who is not

# missing NAME WORDS: cpprof says it. TIME: at least so many hundredths of a second.
missing() {
    expect_contains "$1" err "not in the profile: $2"
    missing_time=$(sed -n "s/^cpprof: not in the profile: $2.*, at most \([0-9]*\)\.\([0-9][0-9]\) s of CPU time.*/\1\2/p" err)
    expect_at_least "$1: hundredths of a second" "$3" "$(expr "${missing_time:-0}" + 0)"
}

if cc -static -O1 -o still works.c 2>/dev/null; then
    for way in vfork spawn fork-exec; do
        record still-$way -- ./works $way ./still work 300
        missing "static by $way" "still (statically linked)" 28
    done
    record still-shell -- sh -c './still work 200; ./other work 60; exit 0'
    missing "static in a shell" "still (statically linked)" 18
    expect_near "beside a static one" 60 "$(time_of still-shell process other)" 50
    # A static program in the middle: those below it are followed.
    record middle -- sh -c './still spawn ./other work 100; exit 0'
    expect_near "below a static one" 100 "$(time_of middle process other)" 60
    missing "static in the middle" "still (statically linked)" 4
    record command -- ./still spawn ./other work 100
    expect_near "a static command" 100 "$(time_of command process other)" 60
    expect_contains "a static command" err "only processes that the command starts are recorded"
    missing "a static command" "still (does not load the library)" 4
fi
for way in vfork-cleared spawn-cleared; do
    record $way -- ./works $way ./other work 300
    missing "$way" "other (started without LD_PRELOAD)" 28
done
record killed -- sh -c './works killed 300; exit 0'
missing "killed" "works (ended without writing, as by SIGKILL)" 28
record confined -- sh -c './works confined 1000; exit 0'
missing "confined" "works (after it has set a seccomp filter)" 10
# A filter that kills for the calls by which a process tells what it does: it is recorded, and tells nothing.
cat >forbids.c <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        return 9;
    execv(argv[1], argv + 1);
    return 8;
}
C
cc -o forbids forbids.c
record forbids -- sh -c './forbids ./other work 100; exit $?'
if [ $record_status != 9 ]; then
    expect_equal "status under a filter" 0 $record_status
    expect_near "under a filter" 100 "$(time_of forbids process other)" 60
    ! has_text err "not in the profile" || fail "under a filter: $(cat err)"
fi
if [ "$(id -u)" = 0 ] && cp works privileged && chown 65534 privileged && chmod 4755 privileged && chmod 755 "$here"; then
    record privileged -- ./works spawn ./privileged work 300
    missing "set-user-id" "privileged (set-user-id)" 28
fi

# A process that goes on is named, keeps quiet, and leaves nothing.
rm -f pid
record left -- ./works leave ./other until "$here/go-on"
expect_equal "status with a process that goes on" 0 $record_status
expect_contains "a process that goes on" err "not in the profile: 1 process (other) that still runs"
left=$(cat pid)
started="$started $left"
touch go-on
wait_until is_over "$left"
expect_equal "its complaint" "" "$(grep 'libpprof:' err || true)"
expect_equal "its files" "" "$(find . -name '.cpprof-*')"
# One that is about to end is waited for, half a second of a machine that may have other work.
is_waited_for() {
    rm -f pid
    record soon -- sh -c './works leave ./other work 30; exit 0'
    expect_at_least "a process that is about to end" 10 "$(time_of soon process other)"
}
attempts 10 is_waited_for
# What starts processes without an end always has something to tell: it is not waited for.
rm -f pid stop
record endless -- sh -c 'while [ ! -e stop ] && [ $((n += 1)) -lt 100000 ]; do /bin/true; done & echo $! >pid'
endless=$(cat pid)
started="$started $endless"
expect_equal "status with an endless one" 0 $record_status
kill -0 "$endless" || fail "an endless one was waited for until its end"
touch stop
wait_until is_over "$endless"
echo ok
