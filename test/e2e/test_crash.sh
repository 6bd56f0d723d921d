#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_crash.sh: the option `crash`. Some 45 ways to crash: all stacks are on the log, with the thread that crashed
# first and the function in which it did; status, output and core dump are those of a run without the library.
# timeout: 600
# nightly: 3
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout
! has_cxx || need c++

victim=$victims/crash
cat >loaded.c <<'C'
static int *volatile nowhere;
static __attribute__((noinline)) void crash_loaded(void) { *nowhere = 1; }
__attribute__((constructor)) static void begin(void) { crash_loaded(); __asm__ volatile(""); }
C
cc -shared -fPIC -O1 -fno-optimize-sibling-calls -o loaded.so loaded.c
export PPROF_CRASH_LIBRARY="$work/loaded.so"

# Where the kernel writes cores beside the program, and gdb reads them, they are compared.
# shellcheck disable=SC3045 # dash has it
ulimit -c unlimited 2>/dev/null || true
cores=no
frames=3
[ "$(cat /proc/sys/kernel/core_pattern)" != core ] || ! command -v gdb >/dev/null || cores=yes

# run FOLDER OPTIONS KIND...: its status, in FOLDER its core, its output and its errors.
run() {
    run_folder=$1
    run_options=$2
    shift 2
    rm -rf "$run_folder"
    mkdir "$run_folder"
    (
        cd "$run_folder"
        [ -z "$run_options" ] || set -- env LIBPPROF="$run_options" LD_PRELOAD="$library" "$@"
        run_status=0
        timeout -s KILL 100 "$@" >out 2>err || run_status=$?
        echo "$run_status" >status
    ) 2>/dev/null
}

# core_of FOLDER: what a debugger says of the core: the signal, and the innermost frames.
core_of() {
    core=$(find "$1" -name 'core*' | head -n 1)
    [ -n "$core" ] || return 0
    gdb -nx -batch -ex 'printf "signal %d code %d\n", $_siginfo.si_signo, $_siginfo.si_code' -ex "bt $frames" \
        "$victim" "$core" 2>/dev/null | sed -n 's/^signal .*/&/p; s/^#[0-9]* *\(0x[0-9a-f]* in \)*\([^ ]*\).*/\2/p'
}

# as_without KIND: compares runs with and without the library.
as_without() {
    run bare "" "$victim" "$1"
    run with "${2-crash}" "$victim" "$1"
    expect_equal "status of $1" "$(cat bare/status)" "$(cat with/status)"
    expect_equal "output of $1" "$(cat bare/out)" "$(cat with/out)"
    if [ "$cores" = yes ]; then
        expect_equal "core of $1" "$(core_of bare)" "$(core_of with)"
    fi
}

# first_of FILE: the functions of the first thread that it shows.
first_of() {
    awk '/^thread / && !seen { seen = 1; next } seen && /^$/ { exit } seen && /^[^\t]/ { sub(/\(\.\.\.\)$/, ""); print }' "$1"
}

# dumps KIND SIGNAL [FUNCTION]: crashes, and the dump begins with the thread that did.
dumps() {
    as_without "$1"
    dumps_function=${3-crash_$(echo "$1" | tr - _)}
    grep -q "^$2: " with/err || fail "dump of $1: no $2 in: $(cat with/err)"
    first_of with/err | grep -qx "$dumps_function" || fail "dump of $1: no $dumps_function in: $(cat with/err)"
    grep -q '^thread [0-9]* "crash" \[running\]:$' with/err || fail "dump of $1: no running thread: $(cat with/err)"
    grep -Eq '^(rip|pc) +0x' with/err || fail "dump of $1: no registers"
    expect_equal "dumps of $1" 1 "$(grep -c "^$2: " with/err)"
}

for kind in null-read null-write null-call wild-call data-call no-address read-only raise \
    overflow overflow-wide no-stack in-coroutine in-thread among-500 among-busy before-exit at-thread-end \
    in-handler after-own raised-again in-comparison in-stdio at-exit; do
    dumps $kind SIGSEGV
done
frames=1 # of whichever thread is first
dumps at-once SIGSEGV
frames=3
dumps thread-overflow SIGSEGV crash_overflow
dumps last-overflow SIGSEGV crash_overflow # in a destructor that runs after the library's
dumps handler-on-stack SIGSEGV crash_in_handler
for kind in bus kill; do
    dumps $kind SIGBUS
done
traps="division float" not_permitted=SIGSEGV
case $(uname -m) in
aarch64) traps="" not_permitted=SIGILL ;; # a division by zero has a result there
esac
for kind in $traps queue; do
    dumps $kind SIGFPE
done
dumps privileged $not_permitted
for kind in illegal sent-to; do
    dumps $kind SIGILL
done
for kind in abort assert; do
    dumps $kind SIGABRT
done
corrupted=SIGABRT
! is_musl "$library" || corrupted=SIGSEGV # its allocator executes hlt
for kind in double-free heap; do
    dumps $kind $corrupted
done
dumps loaded SIGSEGV # its name is not in the loader's list yet

# An exception that nobody catches. The stack is that of the throw, since nothing is unwound.
if has_cxx; then
    cat >uncaught.cc <<'C'
#include <thread>
struct guard { ~guard() { __asm__ volatile(""); } };
__attribute__((noinline)) void crash_uncaught() { guard g; throw 42; }
int main() { std::thread(crash_uncaught).join(); }
C
    c++ -O1 -pthread -o uncaught uncaught.cc
    for options in "" crash; do
        run "with$options" "$options" "$work/uncaught"
        expect_equal "status of uncaught, LIBPPROF=$options" 134 "$(cat "with$options/status")"
    done
    first_of withcrash/err | grep -q '^crash_uncaught' || fail "dump of uncaught: $(cat withcrash/err)"
fi

# ---- the dump itself ----

# A signal hits the thread that is about to dump: the process ends by the first one, in its state.
as_without hit

# The log is a FIFO that nobody opens: the dump ends after its time, and the process as it would.
mkfifo fifo
as_without null-write "crash,log=$work/fifo"

# A pipe that nobody reads: the dump gives up.
mkfifo pipe
exec 9<>pipe
for options in "" crash; do
    full_status=0
    timeout -s KILL 100 sh -c 'exec "$@" 2>pipe' sh env ${options:+LIBPPROF="$options" LD_PRELOAD="$library"} \
        "$victim" full-pipe 2>/dev/null || full_status=$?
    expect_equal "status with a full pipe, LIBPPROF=$options" 139 "$full_status"
done
exec 9>&-

for kind in without-files without-memory without-stderr; do
    as_without $kind
done
grep -q '^crash_without_memory(...)$' with/err || [ $kind != without-memory ] ||
    fail "dump without memory: $(cat with/err)"

# A thread without thread-local variables dumps nothing, and ends as without the library.
for options in crash=quit cpu heap; do
    as_without no-thread-pointer "$options,file=$work/%k.pb.gz"
    as_without no-thread-pointer-at-term "$options,file=$work/%k.pb.gz"
done

# ---- what the program sees ----

as_without recovered
expect_equal "dumps of a program that recovers" "" "$(cat with/err)"
as_without seen crash=quit
expect_equal "errors of a program that asks" "" "$(cat with/err)"

# What each call says, by the victim of e2e.signal_calls: 400 lines for SIGSEGV and SIGABRT. Its children end by them.
for options in "" "LIBPPROF=crash=quit,subprocesses,log=$work/dumps LD_PRELOAD=$library"; do
    # shellcheck disable=SC2086,SC3045 # none, or two words; dash has it
    (
        ulimit -c 0
        exec timeout -s KILL 100 env $options "$victims/signal_calls" 0 11 6 >"calls.${options%%=*}"
    )
done
[ "$(wc -l <calls.)" -gt 300 ] || fail "only $(wc -l <calls.) lines are compared"
diff calls. calls.LIBPPROF >&2 || fail "the option changes what a call says"

run with crash=quit "$victim" quit
expect_equal "output after SIGQUIT" "goes on" "$(cat with/out)"
expect_equal "status after SIGQUIT" 0 "$(cat with/status)"
expect_equal "dumps after SIGQUIT" 3 "$(grep -c '^SIGQUIT: quit$' with/err)"
expect_equal "threads after SIGQUIT" 12 "$(grep -c '^thread ' with/err)"
expect_equal "stacks after SIGQUIT" 3 "$(grep -c '^quit_in_work(...)$' with/err)"
as_without quit
grep -q '^thread ' with/err && fail "crash without quit shows SIGQUIT: $(cat with/err)"

# ---- children ----

as_without in-child
grep -q '^thread ' with/err && fail "a child dumps without subprocesses: $(cat with/err)"
as_without in-child crash,subprocesses
expect_equal "dumps of a child" 1 "$(grep -c '^SIGSEGV: ' with/err)"
grep -q '^crash_in_child(...)$' with/err || fail "dump of a child: $(cat with/err)"
as_without in-vfork crash,subprocesses

# ---- profiles ----

for kind in null-write overflow heap double-free in-handler; do
    dumps_options="crash,cpu:1000,heap:1,block,mutex,thread,fd,file=$work/with/%k.pb.gz"
    as_without $kind "$dumps_options"
    expect_equal "profiles of $kind" 6 "$(find with -name '*.pb.gz' | wc -l)"
    for profile in with/*.pb.gz; do
        raw "$profile"
    done
    stacks with/thread.pb.gz.raw | grep -q "crash_$(echo $kind | tr - _)" || fail "thread profile of $kind"
done

# Not set: a crash is as without the library, and so is a library without options.
run with cpu "$victim" null-write
grep -q '^thread ' with/err && fail "a dump without the option: $(cat with/err)"
echo ok
