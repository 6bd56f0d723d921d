#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record.sh: the command of `cpprof record` does not notice cpprof (what it inherits, signals,
# job control, exit status). cpprof passes the right options to the library, and writes the profile
# or says why there is none. A stub replaces the library.
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"
victim=$BUILD/test/cpprof/victim
export TERM=xterm
export LIBPPROF_LIBRARY="$BUILD/test/cpprof/stub.so"
export STUB_PROFILE="$SRC/test/golden/go/cpu.pb.gz" STUB_NOTE="$work/note"
unset LIBPPROF LD_PRELOAD

# status EXPECTED COMMAND...
status() {
    expected=$1
    shift
    "$@" >out 2>err
    got=$?
    [ $got = "$expected" ] || fail "$*: expected exit status $expected, found $got: $(cat err)"
}

says() {
    grep -qF -- "$1" err || fail "expected '$1', found '$(cat err)'"
}

# Waits until the file has that line; the test's time limit is the only one.
await() {
    until grep -qx "$2" "$1" 2>/dev/null; do
        sleep 0.05
    done
}

left_over() {
    [ -z "$(find . -name '.cpprof-*')" ] || fail "$1: a private folder is left"
}

# ---- the profile

status 0 "$cpprof" record --no-subprocesses "$victim" state
says "wrote cpprof.pb.gz (1 process)"
says "600ms 72.29% 72.29%      600ms 72.29%  main.hog1"
says "Next: cpprof top --cum cpprof.pb.gz"
says "      cpprof flame cpprof.pb.gz"
cmp -s cpprof.pb.gz "$STUB_PROFILE" || fail "the profile is not what the process wrote"
left_over "record"
grep -qx "LIBPPROF=cpu:100,file=$work/.cpprof-[A-Za-z0-9]*/%p.%k.%s.%n.pb.gz,recorder=[0-9:]*,follow-exec" note ||
    fail "options: $(cat note)"
grep -qx "LD_PRELOAD=$LIBPPROF_LIBRARY" note || fail "preload: $(cat note)"
status 0 "$cpprof" record --no-subprocesses -d 2.5 "$victim" state
grep -q ",follow-exec,duration=2500ms$" note || fail "options: $(cat note)"

rm note
LIBPPROF=log=stderr LD_PRELOAD=libc.so.6 \
    status 0 "$cpprof" record -F 997 -d 2.5 --subprocesses -o "x y.pb.gz" "$victim" state
says "cpprof top --cum 'x y.pb.gz'"
[ -e "x y.pb.gz" ] || fail "-o"
grep -q "LIBPPROF=log=stderr,cpu:997,file=.*,follow-exec,subprocesses,until=[0-9]*$" note ||
    fail "options: $(cat note)"
grep -qx "LD_PRELOAD=$LIBPPROF_LIBRARY:libc.so.6" note || fail "preload: $(cat note)"

# The kinds in LIBPPROF are recorded as well.
LIBPPROF=fd,nonsense,heap:64k,cpu:500 status 0 "$cpprof" record --no-subprocesses -e peak -o asked.pb.gz "$victim" state
for kind in peak fd heap cpu; do
    says "wrote asked.$kind.pb.gz"
done
grep -q "LIBPPROF=fd,nonsense,heap:64k,cpu:500,peak,fd,heap:64k,cpu:500,file=" note || fail "options: $(cat note)"
LIBPPROF=cpu:500 status 0 "$cpprof" record --no-subprocesses -F 50 "$victim" state
grep -q "LIBPPROF=cpu:500,cpu:50,file=" note || fail "options: $(cat note)"

LIBPPROF=engine=timer status 0 "$cpprof" record --no-subprocesses --engine=perf -F 10000 "$victim" state
grep -q "LIBPPROF=engine=timer,cpu:10000,file=.*,engine=perf$" note || fail "options: $(cat note)"

# Paths with characters that have a meaning in an option list.
mkdir "a,b c%d:e"
status 0 "$cpprof" record --no-subprocesses -o "a,b c%d:e/p.pb.gz" "$victim" state
cmp -s "a,b c%d:e/p.pb.gz" "$STUB_PROFILE" || fail "a folder with a comma"
cp "$LIBPPROF_LIBRARY" "a,b c%d:e/stub.so"
LIBPPROF_LIBRARY="$work/a,b c%d:e/stub.so" status 0 "$cpprof" record --no-subprocesses -o blank.pb.gz "$victim" state
cmp -s blank.pb.gz "$STUB_PROFILE" || fail "a library in a folder with a blank"
mkdir "100%"
status 0 "$cpprof" record --no-subprocesses -o "100%/p.pb.gz" "$victim" state
cmp -s "100%/p.pb.gz" "$STUB_PROFILE" || fail "a folder with a per cent sign"
ln -s cpprof.pb.gz link
status 0 "$cpprof" record --no-subprocesses -o link "$victim" state
[ -L link ] || fail "a symbolic link was replaced"
status 0 "$cpprof" record --no-subprocesses -o /dev/null "$victim" state
[ -c /dev/null ] || fail "/dev/null was replaced"
left_over "names"

# ---- several kinds

# The stub writes the same profile for each.
status 0 "$cpprof" record --no-subprocesses -e heap:64k,cpu,block:1000,mutex,thread -F 50 -o kinds.pb.gz "$victim" state
grep -qx "LIBPPROF=heap:64k,cpu:50,block:1000,mutex,thread,file=$work/.cpprof-[A-Za-z0-9]*/%p.%k.%s.%n.pb.gz,recorder=[0-9:]*,follow-exec" note ||
    fail "options: $(cat note)"
for kind in cpu heap block mutex thread; do
    cmp -s kinds.$kind.pb.gz "$STUB_PROFILE" || fail "no kinds.$kind.pb.gz"
    says "wrote kinds.$kind.pb.gz (1 process)"
done
[ ! -e kinds.pb.gz ] || fail "a profile of no kind"
says "Next: cpprof top --cum kinds.heap.pb.gz"
says "      cpprof top --cum kinds.mutex.pb.gz"
says "      cpprof flame kinds.heap.pb.gz"
[ "$(grep -c ' main.hog1$' err)" = 5 ] || fail "not five tops: $(cat err)"

status 0 "$cpprof" record --no-subprocesses -e cpu,heap "$victim" state
cmp -s cpprof.heap.pb.gz "$STUB_PROFILE" || fail "the default name"
status 0 "$cpprof" record --no-subprocesses -e mutex -o alone.pb.gz "$victim" state
cmp -s alone.pb.gz "$STUB_PROFILE" || fail "one kind: its name"
mkdir in.heap in.block
status 0 "$cpprof" record --no-subprocesses -e heap,block -o "in.%k/%k-of-%e.pb" "$victim" state
cmp -s in.heap/heap-of-%e.pb "$STUB_PROFILE" || fail "%k: $(find . -name '*-of-*')"
cmp -s in.block/block-of-%e.pb "$STUB_PROFILE" || fail "%k: $(find . -name '*-of-*')"
status 0 "$cpprof" record --no-subprocesses -e heap,block -o bare "$victim" state
{ [ -e bare.heap ] && [ -e bare.block ]; } || fail "a name without a suffix"
status 0 "$cpprof" record --no-subprocesses -e heap,cpu -o /dev/null "$victim" state
[ -c /dev/null ] || fail "/dev/null was replaced"
mkdir taken.heap.pb.gz
status 1 "$cpprof" record --no-subprocesses -e cpu,heap -o taken.pb.gz "$victim" state
says "taken.heap.pb.gz: expected the name of a file to write, found a directory"
STUB_SILENT=1 status 125 "$cpprof" record --no-subprocesses -e cpu,heap "$victim" state
[ "$(grep -c 'no profile was written' err)" = 1 ] || fail "one sentence for two kinds: $(cat err)"
left_over "kinds"

# ---- several processes

status 0 "$cpprof" record -o many.pb.gz \
    "$(command -v sh)" -c "\"$victim\" state >/dev/null; \"$victim\" state; exit 0"
says "processes)"
"$cpprof" top many.pb.gz | grep -q "100% of 1.66s total\|100% of 1660ms total\|of 1.66s total" ||
    fail "two processes: $("$cpprof" top many.pb.gz)"
"$cpprof" tags many.pb.gz | grep -q "process: Total" || fail "its label: $("$cpprof" tags many.pb.gz)"
status 0 "$cpprof" record --no-subprocesses -o one.pb.gz "$victim" state
cmp -s one.pb.gz "$STUB_PROFILE" || fail "one process"
status 2 "$cpprof" record --subprocesses --no-subprocesses true
says "exclude each other"

# ---- the command does not notice

for ignored in "" INT HUP CHLD USR1 TSTP; do
    (
        # shellcheck disable=SC2064 # expanded now
        [ -n "$ignored" ] && trap '' "$ignored"
        "$victim" state 5</dev/null 9>/dev/null >direct
        "$cpprof" record "$victim" state 5</dev/null 9>/dev/null >recorded 2>err
    )
    cmp -s direct recorded || {
        fail "the command inherits something else with '$ignored' ignored"
        diff direct recorded >&2
    }
done
(exec <&- && "$victim" state >direct 2>/dev/null)
(exec <&- && "$cpprof" record "$victim" state >recorded 2>/dev/null)
cmp -s direct recorded || fail "the command inherits something else with a closed standard input"
echo input | "$cpprof" record cat >out 2>err
[ "$(cat out)" = input ] || fail "standard input and output"

# ---- exit status

status 7 "$cpprof" record sh -c 'exit 7'
status 127 "$cpprof" record no-such-command
says "no-such-command: cannot run"
: >not-executable
status 126 "$cpprof" record ./not-executable
for number in 1 2 9 10 14 15; do
    # The shell has to report the same signal.
    "$cpprof" record "$victim" die $number >out 2>err
    got=$?
    "$victim" die $number >out 2>&1
    [ $got = $? ] || fail "died of signal $number: exit status $got"
done
# shellcheck disable=SC3045 # where it is not known there is nothing to test
ulimit -c unlimited 2>/dev/null
status 139 "$cpprof" record "$victim" die 11
says "ended by signal 11"
status 137 "$cpprof" record "$victim" die 9
says "killed by SIGKILL"
left_over "exit status"

# ---- signals

rm -f ready
STUB_SILENT=1 "$cpprof" record -o s.pb.gz "$victim" count ready >counted 2>err &
recorder=$!
await ready ready
for name in INT HUP QUIT USR2 USR1; do
    kill -$name $recorder
done
await ready usr1
kill -TERM $recorder
wait $recorder
got=$?
[ $got = 125 ] || fail "passing signals on: exit status $got"
# A program that a shell starts with & ignores INT and QUIT, but does not block them: the victim counts them.
printf 'HUP 1\nINT 1\nQUIT 1\nUSR1 1\nUSR2 1\nTERM 1\n' | sort >expected
sort counted | cmp -s - expected || fail "signals passed on: $(cat counted)"

# ---- a terminal

"$victim" terminal "$cpprof" record -o t.pb.gz "$BUILD/test/cpprof/victim" count tty >typed &
helper=$!
await tty ready
kill -TERM "$(sed -n 's/^pid //p' tty)"
wait $helper
grep -q "TERM 1" typed || fail "a terminal: $(cat -v typed)"
grep -q "wrote t.pb.gz" typed || fail "a terminal: $(cat -v typed)"

# ^C reaches the command once; ^Z stops both, and the shell sees it.
"$victim" terminal "$cpprof" record "$victim" interrupt >typed 2>&1
grep -q "interrupts: 1" typed || fail "^C: $(cat -v typed)"
grep -q "\[ended with 3\]" typed || fail "^C: $(cat -v typed)"

"$victim" terminal "$cpprof" record "$victim" suspend suspended >typed 2>&1
grep -q "\[stopped by TSTP\]" typed || fail "^Z: $(cat -v typed)"
grep -q "\[ended with 0\]" typed || fail "^Z: $(cat -v typed)"
grep -qx continued suspended || fail "^Z: not continued"

# There is a line of progress on a terminal, and none elsewhere.
"$victim" terminal "$cpprof" record "$victim" burn 1.5 >typed 2>&1
grep -q "cpprof: recording for [0-9.]* s, CPU time [0-9.]* s" typed || fail "progress: $(cat -v typed)"
"$cpprof" record "$victim" burn 1 >out 2>err
grep -q "recording for" err && fail "progress without a terminal"

# ---- no profile, and why

rm -f cpprof.pb.gz
STUB_SILENT=1 status 125 "$cpprof" record "$victim" state
! grep -q "earlier run" err || fail "there was no earlier one: $(cat err)"
echo old >cpprof.pb.gz
STUB_SILENT=1 status 125 "$cpprof" record "$victim" state
says "cpprof.pb.gz is from an earlier run and was not changed"
[ "$(cat cpprof.pb.gz)" = old ] || fail "an older file was touched"
STUB_SILENT=1 status 7 "$cpprof" record sh -c 'exit 7'
STUB_SILENT=1 status 125 "$cpprof" record "$victim" state
says "no profile was written: $victim ended without writing one"
printf '#!%s\nexec "%s" state\n' "$(command -v sh)" "$victim" >wrapper
chmod +x wrapper
status 125 "$cpprof" record --no-subprocesses ./wrapper
says "replaced itself by another program (victim)"
printf 'int main(void){return 0;}\n' >static.c
if cc -static -o static static.c 2>/dev/null; then
    status 125 "$cpprof" record ./static
    says "static is statically linked"
    printf '#!%s/static\n' "$work" >script
    chmod +x script
    status 125 "$cpprof" record ./script
    says "script is a script, and its interpreter $work/static is statically linked"
fi
if [ -c /dev/full ]; then
    status 125 "$cpprof" record -o /dev/full "$victim" state
    says "/dev/full"
fi
# A loader of this name may be musl's: a preloaded library for glibc breaks such a program.
printf 'int main(void){return 0;}\n' >musl.c
loader=$(LC_ALL=C readelf -lW "$victim" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
musl_loader=ld-musl-$(uname -m).so.1
if [ "${loader##*/}" != "$musl_loader" ] && cc -Wl,--dynamic-linker="$work/$musl_loader" -o musl musl.c 2>/dev/null &&
    ln -s "$loader" "$musl_loader" && ./musl; then
    rm -f note
    status 125 "$cpprof" record ./musl
    says "musl uses the musl C library, and this libpprof is built for glibc"
    status 125 "$cpprof" record --no-subprocesses ./musl
    [ ! -e note ] || fail "the library was preloaded into a program for musl"
fi
LIBPPROF_LIBRARY=/nowhere/libpprof.so.0 status 1 "$cpprof" record true
says "LIBPPROF_LIBRARY=/nowhere/libpprof.so.0: No such file"
status 1 "$cpprof" record -o /nowhere/p.pb.gz true
says "/nowhere/p.pb.gz: cannot find the directory for this file: No such file"
status 1 "$cpprof" record -o . true
says "found a directory"

# ---- wrong options

status 2 "$cpprof" record
says "expected a COMMAND to run, found none"
status 2 "$cpprof" record -e cpu,thread:5 true
says "thread has no rate, found '5'"
status 2 "$cpprof" record -e fd:1 true
status 2 "$cpprof" record -e allocs true
says "the heap profile has the allocations too"
status 2 "$cpprof" record -e heap:big true
says "expected a number after heap:, found 'big'"
status 2 "$cpprof" record -e block:1k true
status 2 "$cpprof" record -e mutex: true
status 2 "$cpprof" record -e cpu:100 true
says "cpu takes its rate from -F, found '100'"
status 2 "$cpprof" record -e cpu, true
status 2 "$cpprof" record -e cpu,bogus true
says "found 'bogus'"
status 2 "$cpprof" record -F 0 true
says "expected a number from 1 to 1000000, found '0'"
status 2 "$cpprof" record -F 1000001 true
status 2 "$cpprof" record --engine=ptrace true
says "--engine: expected auto, timer or perf, found 'ptrace'"
status 2 "$cpprof" record --engine= true
status 2 "$cpprof" record -d x true
says "-d: expected a number of seconds from 0.001 to 1e9, or a time such as 500ms, 10s or 1m30s, found 'x'"
for time in 0 1x 10s5 500us -1s 1s500; do
    status 2 "$cpprof" record -d "$time" true
done
for time in 300ms 0.3s 0m0.3s; do
    status 0 "$cpprof" record -F 1000 -d "$time" -- "$victim" state
done
status 0 "$cpprof" record -e cpu,cpu -F 1000000 -d 0.5 -- "$victim" state

finish_tests
