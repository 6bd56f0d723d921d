#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 3
#
# test_attached_exec.sh: programs that a process executes that is attached to, itself or in a child, run unharmed, and
# find nothing of ours; and cpprof attaches to a process that is about to execute a program.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"
need cc

# what_is_left FILE: what a program inherits from the one before.
what_is_left() {
    {
        find "/proc/$guest/fd" -type l -exec readlink {} + | sort
        grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd|Threads)' "/proc/$guest/status"
        cat "/proc/$guest/timers"
        tr '\0' '\n' <"/proc/$guest/environ" | sort
        ls "$work/run/pprof"
    } >"$1" 2>&1
}

# begins_anew: the program executes itself. It is there again when it answers.
begins_anew() {
    echo "execute $victims/attached" >&9
    expect_equal "state of the new program" "state 0" "$(tell state)"
}

# ---- the process executes another program ----

mkdir -m 700 run/pprof
start
begins_anew
what_is_left before
for engine in timer perf; do
    turn=0
    while [ $turn -lt 25 ]; do
        turn=$((turn + 1))
        tell work >/dev/null
        tell work >/dev/null
        "$cpprof" configure "$guest" "engine=$engine,cpu:4000,heap:1k,block:1,mutex:1,fd" >/dev/null ||
            fail "cannot attach, turn $turn with $engine"
        "$cpprof" top "pid:$guest/thread" >threads.txt || fail "no threads, turn $turn with $engine"
        begins_anew
        what_is_left after
        cmp -s before after || fail "left after turn $turn with $engine: $(diff before after)"
    done
done

# If that fails, everything goes on.
"$cpprof" configure "$guest" cpu >status || fail "cannot attach"
expect_equal "no program" "not executed" "$(tell execute "$work/nothing")"
"$cpprof" configure "$guest" >after || fail "no answer after an exec that failed"
cmp -s status after || fail "not as before an exec that failed: $(cat after)"

# cpprof has been recording, and says why it cannot go on.
touch unexecutable
is_recorded() { # KINDS
    case $1 in *cpu*) grep -q . "/proc/$guest/timers" || return 1 ;; esac
    case $1 in *heap*) "$cpprof" configure "$guest" 2>/dev/null | grep -q '^on.*heap' || return 1 ;; esac
}
# A shell tries one folder after the other: the recording goes on.
begins_anew
"$cpprof" record -p "$guest" -e cpu,heap -d 3 -o kept.pb.gz >kept.out 2>&1 &
recorder=$!
wait_until is_recorded cpu,heap
for path in "$work/nothing" "$work/unexecutable" "$work" "$work/unexecutable/in"; do
    expect_equal "no program" "not executed" "$(tell execute "$path")"
done
wait $recorder || fail "a recording has not survived an exec that failed: $(cat kept.out)"

begins_anew
for kinds in cpu heap cpu,heap; do
    "$cpprof" record -p "$guest" -e $kinds -d 300 -o lost.pb.gz >lost.out 2>&1 &
    recorder=$!
    wait_until is_recorded $kinds
    begins_anew
    recorder_status=0
    wait $recorder || recorder_status=$?
    expect_equal "status of a recording of $kinds that was cut off: $(cat lost.out)" 1 "$recorder_status"
    expect_contains "the recording of $kinds" lost.out "the process executes another program now"
    ! ls lost*.pb.gz 2>/dev/null || fail "there is a file of $kinds"
done

# Another cpprof ends the attachment.
"$cpprof" record -p "$guest" -e heap -d 300 -o lost.pb.gz >lost.out 2>&1 &
recorder=$!
wait_until is_recorded heap
"$cpprof" configure "$guest" detach >after || fail "no detach during a recording"
recorder_status=0
wait $recorder || recorder_status=$?
expect_equal "status of a recording whose attachment was ended: $(cat lost.out)" 1 "$recorder_status"
expect_contains "its message" lost.out "somebody has ended the attachment"

# ---- its children do ----

cat >child <<'CHILD'
#!/bin/sh
{
    env | grep -c 'LIBPPROF\|LD_PRELOAD'
    ls -l /proc/$$/fd 2>/dev/null | grep -c 'socket\|anon_inode\|perf'
    # The shell itself blocks signals for moments, and has children that end.
    { grep '^SigBlk' /proc/self/status; grep -E '^(SigPnd|ShdPnd)' /proc/$$/status; } |
        grep -vc '00000000000[01]0000$'
    cat /proc/$$/timers
} >"$0.found"
exit 23
CHILD
chmod +x child
tell work >/dev/null
"$cpprof" configure "$guest" cpu:4000,heap:1k,block:1,mutex:1,fd >status || fail "cannot attach"
for turn in 1 2 3 4 5 6 7 8 9 10; do
    for way in spawn vfork; do
        expect_equal "child of $way, turn $turn" "child 23" "$(tell $way "$work/child")"
        expect_equal "what it finds" "0 0 0" "$(tr '\n' ' ' <child.found | sed 's/ $//')"
    done
done
"$cpprof" configure "$guest" >after || fail "no answer after children"
cmp -s status after || fail "not as before children: $(cat after)"
end

# ---- cpprof comes while a program is executed ----

turn=0
while [ $turn -lt 40 ]; do
    turn=$((turn + 1))
    start
    "$cpprof" configure "$guest" cpu >again.out 2>&1 ||
        fail "attaching to a program that begins, turn $turn: $(cat again.out "/proc/$guest/stat" guest.err 2>&1)"
    expect_equal "an answer, turn $turn" "joined" "$(tell threads)"
    end
done

# In a child of vfork the library would be loaded into its parent. It is attached to when it has executed its program.
cat >waits.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char byte;
    pid_t child = vfork();
    if (child == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        if (read(0, &byte, 1) != 1)
            _exit(1);
        execv(argv[argc - 1], argv + argc - 1);
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}
C
cc -o waits waits.c
mkfifo waits.in
./waits "$victims/attached" <waits.in >waits.out &
parent=$!
started="$started $parent"
exec 9>waits.in
wait_until test -s waits.out
child=$(cat waits.out)
! "$cpprof" configure "$child" cpu 2>refused || fail "attached to a child of vfork"
expect_contains "a child of vfork" refused "shares the memory of process $parent"
! grep -q libpprof "/proc/$parent/maps" || fail "the parent has the library"
"$cpprof" configure "$child" cpu >attached.out 2>&1 &
attaching=$!
echo >&9
wait $attaching || fail "the program of a child of vfork: $(cat attached.out)"
ends_with 7 "$parent" "of the parent"
echo ok
