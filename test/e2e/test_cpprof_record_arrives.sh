#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_arrives.sh: profiles of all kinds arrive at `cpprof record` from programs that may open no
# file any more, that close the socket, or that open other files under its number. Children do not inherit the
# socket. The next cpprof removes what a killed one left.
# timeout: 300
# nightly: 2
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof
chmod 755 "$work" # another user gets as far as the program's folder

# arrives HOW: profiles of every kind arrive from a program that shuts itself off in this way.
arrives() {
    arrives_status=0
    "$cpprof" record -e cpu,heap:1,block,mutex,thread -F 1000 -o "$1.pb.gz" \
        "$victims/shut_off" "$1" 100 own.txt >out 2>err || arrives_status=$?
    if [ $arrives_status = 77 ]; then
        echo "not possible here: $1"
        return
    fi
    expect_equal "status of $1" 0 $arrives_status
    cp err "$1.err"
    for kind in cpu heap block mutex thread; do
        expect_contains "$1" err "wrote $1.$kind.pb.gz (1 process)"
        raw "$1.$kind.pb.gz"
    done
    expect_at_least "CPU time of $1" 50 "$(weight "$1.cpu.pb.gz.raw")"
    expect_at_least "blocks of $1" 1 "$(blocks_of "$1.heap.pb.gz.raw" | cut -d ' ' -f 1)"
    expect_equal "threads of $1" 1 "$(weight "$1.thread.pb.gz.raw")"
    [ -z "$(find . -name '.cpprof-*')" ] || fail "$1: a private folder is left"
}
for how in nothing landlock unread chroot nobody seccomp closes replaces; do
    arrives $how
done

# If a file cannot be opened for its names, those that are loaded are read: dynamic symbols, and where functions begin.
for how in unread chroot; do
    [ -e $how.cpu.pb.gz.raw ] || continue
    # All but what the loader does before it. In musl what calls main has no name.
    is_musl "$library" || expect_at_least "weight of __libc_start_main, $how" $(($(weight $how.cpu.pb.gz.raw) * 9 / 10)) \
        "$(weight_with $how.cpu.pb.gz.raw __libc_start_main)"
    stacks $how.cpu.pb.gz.raw | tr '\t' '\n' | grep '^\[shut_off]+0x' | sort -u >functions
    expect_at_least "functions of the program, $how" 2 "$(wc -l <functions)"
    [ -e "$BUILD/lib/libpprof-dwarf.so" ] || continue
    # cpprof may open it: its reports have the names, also the table at the end of `record`.
    grep -q ' works_shut_off$' $how.err || fail "record has no name of a function, $how: $(cat $how.err)"
    "$cpprof" top $how.cpu.pb.gz >out 2>err
    grep -q ' works_shut_off$' out || fail "top has no name of a function, $how: $(cat out err)"
    [ ! -s err ] || fail "top complains, $how: $(cat err)"
    "$cpprof" top --symbolize=none $how.cpu.pb.gz | grep -q works_shut_off && fail "--symbolize=none, $how"
done
expect_equal "the program's own file" 0 "$(wc -c <own.txt)"

# A profile of many messages: 131072 stacks. With an argument the program stops cpprof first.
cat >stacks.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
#define BRANCH(name, next) static void name(unsigned n) { if (n & 1) next(n >> 1); else { next(n >> 1); kept = 0; } }
static void leaf(unsigned n) { (void)n; kept = malloc(16); kept = 0; }
BRANCH(a, leaf) BRANCH(b, a) BRANCH(c, b) BRANCH(d, c) BRANCH(e, d) BRANCH(f, e) BRANCH(g, f)
BRANCH(h, g) BRANCH(i, h) BRANCH(j, i) BRANCH(k, j) BRANCH(l, k) BRANCH(m, l) BRANCH(o, m)
BRANCH(p, o) BRANCH(q, p) BRANCH(r, q)
int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (file != NULL) {
        kill(getppid(), SIGSTOP);
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    for (unsigned n = 0; n < 131072; n++)
        r(n);
    return 0;
}
C
cc -O0 -o many_stacks stacks.c
"$cpprof" record -e heap:1 -o large.pb.gz ./many_stacks 2>err || fail "$(cat err)"
expect_at_least "bytes of a large profile" 250000 "$(wc -c <large.pb.gz)"
raw large.pb.gz
expect_equal "blocks of a large profile" "131072 2097152" "$(blocks_of large.pb.gz.raw leaf | cut -d ' ' -f 1,2)"

# Neither a child nor a program that it executes has the socket, and no list of descriptors has it.
cat >lists.c <<'C'
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    char link[64], to[64];
    for (int fd = 3; fd < 1024; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, to, sizeof to - 1);
        to[length > 0 ? length : 0] = 0;
        if (strncmp(to, "socket:", 7) == 0)
            puts("a socket");
    }
    return 0;
}
C
cc -o lists lists.c
"$cpprof" record --no-subprocesses sh -c './lists; exit 0' >out 2>err || fail "$(cat err)"
expect_equal "sockets of a child" "" "$(cat out)"
# shellcheck disable=SC2016 # the inner shell's variables
"$cpprof" record --no-subprocesses sh -c 'ls -l /proc/$$/fd; exit 0' >out 2>err || fail "$(cat err)"
expect_equal "sockets of the command" 1 "$(grep -c socket: out)"
"$cpprof" record -e thread -o unnoticed.pb.gz env LIBPPROF=x true 2>err || fail "$(cat err)"

# Processes of one recording do not mix.
"$cpprof" record -F 1000 -o some.pb.gz \
    sh -c "for i in 1 2 3 4 5 6; do \"$victims/shut_off\" nothing 50 & done; wait" 2>err || fail "$(cat err)"
expect_contains "some processes" err "(7 processes)"
raw some.pb.gz
expect_at_least "CPU time of some processes" 200 "$(weight_with some.pb.gz.raw works_shut_off)"

# The program ends although cpprof is stopped: then the profile comes by files.
"$cpprof" record -e heap:1 -o stopped.pb.gz ./many_stacks pid 2>err &
recorder=$!
started="$started $recorder"
wait_until test -s pid
wait_until is_over "$(cat pid)"
kill -CONT $recorder
wait $recorder || fail "a cpprof that was stopped: $(cat err)"
raw stopped.pb.gz
expect_equal "blocks, and a cpprof that was stopped" "131072 2097152" "$(blocks_of stopped.pb.gz.raw leaf | cut -d ' ' -f 1,2)"
! grep -q incomplete err || fail "a cpprof that was stopped: $(cat err)"

# A killed cpprof leaves its folder. The next one removes it, but no folder that is in use or has another name.
mkdir killed
cd killed
mkdir .cpprof-mine123 .cpprof-backup
touch .cpprof-backup/important
# shellcheck disable=SC2016
"$cpprof" record sh -c 'kill -KILL $PPID; exit 0' 2>/dev/null || true
left=$(find . -name '.cpprof-??????' ! -name .cpprof-backup)
[ -n "$left" ] || fail "no folder was left"
# shellcheck disable=SC2016
"$cpprof" record -o outer.pb.gz sh -c '"$0" record -o inner.pb.gz true; find . -name ".cpprof-??????" >inner; exit 0' \
    "$cpprof" 2>err || fail "$(cat err)"
[ ! -e "$left" ] || fail "the folder of a killed cpprof was not removed"
expect_equal "the folder in use, and one of another's" 2 "$(wc -l <inner)"
rm .cpprof-backup/important
"$cpprof" record true 2>/dev/null || true
expect_equal "folders" ./.cpprof-mine123 "$(find . -name '.cpprof-*')"
echo ok
