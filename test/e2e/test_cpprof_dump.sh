#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitizers: yes
#
# test_cpprof_dump.sh: `cpprof dump` shows the stack of each thread of a program that knows nothing of us, who holds the
# lock that a thread waits for, and deadlocks; the program is not disturbed. Refusals say what to do.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc
cpprof=$BUILD/bin/cpprof

# There are no victims in a build with a sanitizer, whose library cannot be loaded into a program without it.
dumped=$victims/dumped
has_sanitizer=
if [ ! -x "$dumped" ]; then
    has_sanitizer=yes
    export ASAN_OPTIONS=detect_leaks=0 # what is left at the end is not asked here
    mkdir compiled
    dumped=$work/compiled/dumped
    cc -O1 -D_GNU_SOURCE -o "$dumped" "$SRC/test/e2e/victims/dumped.c" -pthread
fi

# start NAME COMMAND...: runs the victim until it is ready; its process is $process, its output NAME.out.
start() {
    start_name=$1
    shift
    "$@" >"$start_name.out" 2>"$start_name.err" &
    process=$!
    started="$started $process"
    wait_until has_line "$start_name.out" ready
}

# thread_of FILE NAME: its lines.
thread_of() { awk -v name="\"$2\"" '/^thread / { on = $3 == name } /^deadlock/ { on = 0 } on && NF' "$1"; }

# functions_of FILE NAME: the names in its stack, leaf first, in one line.
functions_of() { thread_of "$1" "$2" | sed -n 's/(\.\.\.)$//p' | tr '\n' ' '; }

tid_of() { awk -v name="\"$2\"" '/^thread / && $3 == name { print $2 }' "$1"; }

# state_of FILE NAME: what stands in brackets, with N in the place of numbers.
state_of() { thread_of "$1" "$2" | sed -n '1s/^[^[]*\[\(.*\)\]:$/\1/p' | sed 's/0x[0-9a-f]*/ADDRESS/; s/thread [0-9]*/thread N/'; }

# everybody_waits FILE: all threads of the victim have got to where they stay.
everybody_waits() {
    "$cpprof" dump -p "$process" >"$1" 2>"$1.err" || fail "dump: $(cat "$1.err")"
    for waits in left right behind itself orphan reader joiner waiter; do
        case $(state_of "$1" $waits) in futex*) ;; *) return 1 ;; esac
    done
}

# expect_victim FILE: all that the victim's threads do is there.
expect_victim() {
    file=$1
    expect_equal "threads in $file" 11 "$(grep -c '^thread ' "$file")"
    expect_equal "left, in $file" 'futex, mutex ADDRESS held by thread N "right"' "$(state_of "$file" left)"
    expect_equal "right, in $file" 'futex, mutex ADDRESS held by thread N "left"' "$(state_of "$file" right)"
    expect_equal "behind, in $file" 'futex, mutex ADDRESS held by thread N "left"' "$(state_of "$file" behind)"
    expect_equal "itself, in $file" 'futex, mutex ADDRESS held by thread N "itself"' "$(state_of "$file" itself)"
    holder='thread N, which has ended'
    ! is_musl "$library" || holder=nobody # it forgets it
    expect_equal "orphan, in $file" "futex, mutex ADDRESS held by $holder" "$(state_of "$file" orphan)"
    writer='thread N "dumped"'
    ! is_musl "$library" || writer='another thread' # the lock does not say which
    expect_equal "reader, in $file" "futex, rwlock ADDRESS held by $writer" "$(state_of "$file" reader)"
    # On aarch64 glibc waits for a rwlock in a function that saves nothing: its caller is not known (docs/LIMITS.md).
    reader=reader
    [ "$(uname -m)" != aarch64 ] || reader=
    joined=', the end of thread N "behind"'
    ! is_musl "$library" || joined= # it waits for a word that has no thread's number
    expect_equal "joiner, in $file" "futex$joined" "$(state_of "$file" joiner)"
    expect_equal "waiter, in $file" futex "$(state_of "$file" waiter)"
    for name in left right behind itself orphan $reader joiner waiter; do
        case " $(functions_of "$file" $name)" in
        *" $name "*) ;;
        *) fail "$name is not in its own stack in $file: $(functions_of "$file" $name)" ;;
        esac
    done
    expect_equal "deadlocks in $file" 2 "$(grep -c '^deadlock: ' "$file")"
    expect_contains "the circle in $file" "$file" 'deadlock: 2 threads wait for each other'
    expect_contains "left's part in $file" "$file" "$(printf '\tthread %s "left" waits for mutex' "$(tid_of "$file" left)")"
    expect_contains "the lone one in $file" "$file" 'deadlock: a thread waits for itself'
}

# ---- a program, and the same with the library inside ----

start plain "$dumped"
wait_until everybody_waits plain
expect_victim plain
# Without perf events, as in many containers, running threads have no stack.
if ! grep -q 'no perf event' plain.err; then
    expect_equal "calls of the runner" 11 "$(thread_of plain runner | grep -c '^go_deeper(')"
    expect_equal "state of the runner" running "$(state_of plain runner)"
    # Without libdw there is no libpprof-dwarf.so, which is said.
    [ -e "$BUILD/lib/libpprof-dwarf.so" ] || sed -i '/^cpprof: no lines: libpprof-dwarf[.]so/d' plain.err
    [ -z "$reader" ] || expect_equal "warnings" "" "$(cat plain.err)"
fi
for attempt in 1 2 3 4 5 6 7 8 9 10; do
    "$cpprof" dump -p "$process" >again 2>/dev/null
    expect_equal "threads of dump $attempt" 11 "$(grep -c '^thread ' again)"
done

"$cpprof" dump -p "$process" -o threads.pb.gz 2>/dev/null
if command -v go >/dev/null; then
    raw threads.pb.gz
    expect_equal "threads in the profile" 11 "$(weight threads.pb.gz.raw)"
    expect_equal "the deadlocked one in the profile" 1 "$(weight_with threads.pb.gz.raw left)"
fi
"$cpprof" top --cum threads.pb.gz >top
expect_contains "top of the profile" top 'Type: thread'
kill -TERM "$process"
wait_until has_text plain.out interrupted
expect_equal "calls that were interrupted" "interrupted 0" "$(sed -n 2p plain.out)"

if [ -z "$has_sanitizer" ]; then
    start preloaded env LIBPPROF="cpu,mutex,block,file=$work/own.%k.pb.gz" LD_PRELOAD="$library" "$victims/dumped"
    wait_until everybody_waits inside
    expect_victim inside
    ! grep -q '^pp_' inside || fail "functions of ours are shown: $(grep '^pp_' inside)"
    kill -KILL "$process"
fi

# ---- a program that is gone from the disk ----

cp "$dumped" dumped
start deleted ./dumped
rm dumped
wait_until everybody_waits deleted.dump
expect_victim deleted.dump
kill -KILL "$process"

# ---- a static program, whose unwind table has no index ----

mkdir static
if cc -static -O1 -D_GNU_SOURCE -o static/dumped "$SRC/test/e2e/victims/dumped.c" -pthread 2>cc.err; then
    start static static/dumped
    wait_until everybody_waits static.dump
    expect_victim static.dump
    kill -KILL "$process"
fi

# ---- refusals ----

# refused STATUS TEXT COMMAND...
refused() {
    refused_status=$1
    refused_text=$2
    shift 2
    expect_equal "status of: $*" "$refused_status" "$(status "$@" 2>refused.err)"
    expect_contains "words of: $*" refused.err "$refused_text"
}
"$dumped" >over.out &
over=$!
started="$started $over"
kill -KILL $over
wait $over 2>/dev/null || true
refused 1 "there is no process $over" "$cpprof" dump -p $over
refused 2 'expected the number of a process' "$cpprof" dump -p redis
refused 2 'expected -p PID' "$cpprof" dump
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    start foreign "$dumped"
    others=$(for_everybody "$cpprof")
    refused 1 "is another user's" setpriv --reuid=65534 --regid=65534 --clear-groups "$others" dump -p "$process"
fi
echo ok
