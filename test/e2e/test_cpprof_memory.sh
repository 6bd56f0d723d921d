#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, the victim has glibc's arenas
#
# test_cpprof_memory.sh: `cpprof memory` prints one page, of a process with a control socket, of a server, of a file, and of a
# process without libpprof, of which it says that only /proc was asked; what cannot be read is refused.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"
# Longer than a line of the page.
folder=$(printf '%080d' 0)
mkdir "$folder"
dd if=/dev/zero of="$folder/file" bs=1M count=4 2>dd.err || fail "$(cat dd.err)"

start() { # [VARIABLE=VALUE...]
    rm -f input
    mkfifo input
    : >said
    env "$@" "$victims/holders" "$folder/file" <input >said 2>err &
    victim=$!
    started="$started $victim"
    exec 9>input
    wait_until has_line said ready
}
end() {
    exec 9>&-
    ends_with 0 $victim
}
# has PAGE TEXT...
has() {
    page=$1
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$page" || fail "no '$text' in $page: $(cat "$page")"
    done
}
# A page of it says what the victim has; of the two tables the first ends with the sum, the largest number.
look() { # SOURCE... (the page is in page)
    "$cpprof" memory "$@" >page 2>complaints || fail "memory $*: $(cat complaints)"
    has page '16MB  ' '8MB  /memfd:pool' '4MB  ...0' '00/file' 'holders'
    awk '/  all$/ { found = $2 == "100%" } END { exit !found }' page || fail "no sum: $(cat page)"
}

start LIBPPROF="heap:1,control,http=unix:$work/web" LD_PRELOAD="$library"
look -p $victim
has page "process $victim " 'live blocks of the allocator' 'make_block < run' '16MB  make_large < main' '12MB  mmap < map_memory < main' \
    '101 arenas' 'are resident (VmRSS' 'glibc has given out' 'page tables'
! grep -q pprof_memory page || fail "roots are shown: $(cat page)"
look "pid:$victim"
look "unix:$work/web"
"$cpprof" memory "pid:$victim/none" >page 2>complaints || fail "none: $(cat complaints)" # an older libpprof answers so
has page "process $victim " 'This is what /proc says' 'answered 404'
is_stopped() { grep -q '^State:.T' "/proc/$victim/status"; }
kill -STOP $victim
wait_until is_stopped
"$cpprof" memory -p $victim >page 2>complaints || fail "stopped: $(cat complaints)"
kill -CONT $victim
has page 'This is what /proc says' "process $victim is stopped: let it go on (kill -CONT $victim)"
"$cpprof" merge -o mem.pb.gz "pid:$victim/memory" || fail "no profile"
look mem.pb.gz
! grep -q '^process' page || fail "a file has no process: $(cat page)"
"$cpprof" merge -o heap.pb.gz "pid:$victim/heap" || fail "no heap profile"
ended=0
"$cpprof" memory heap.pb.gz >page 2>complaints || ended=$?
expect_equal "status with a profile of another kind" 1 $ended
expect_contains "another kind" complaints "heap.pb.gz: expected a profile of the kind memory"
end

start LC_ALL=C
"$cpprof" memory -p $victim >page 2>complaints || fail "outside: $(cat complaints)"
has page "process $victim " "the allocator's memory, in use or free" '101 arenas' 'MB  large blocks' '8MB  /memfd:pool' 'stacks of threads' 'holders' \
    'This is what /proc says' 'no control socket'
! grep -q 'live blocks' page || fail "live blocks are not known outside: $(cat page)"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    others=$(for_everybody "$cpprof")
    ended=0
    setpriv --reuid=65534 --regid=65534 --clear-groups "$others" memory -p $victim >page 2>complaints || ended=$?
    expect_equal "status with another user's process" 1 $ended
    expect_contains "another user's process" complaints "process $victim is another user's: run cpprof as that user or as root"
fi
end

for words in '' "-p $victim" '-p 0x' 'none.pb.gz' "-p 1 more"; do
    ended=0
    # shellcheck disable=SC2086 # words
    "$cpprof" memory $words >page 2>complaints || ended=$?
    [ $ended -ne 0 ] || fail "memory $words ended with 0"
    [ -s complaints ] && [ ! -s page ] || fail "memory $words: $(cat page complaints)"
done

# Of a command at its end.
"$cpprof" record -e memory --no-subprocesses -o end.pb.gz -- true >recorded 2>&1 || fail "record: $(cat recorded)"
"$cpprof" memory end.pb.gz >page || fail "end.pb.gz"
has page 'code and constants'
echo ok
