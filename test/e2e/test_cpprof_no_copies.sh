#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_no_copies.sh: where a sandbox forbids cpprof process_vm_readv(2) and process_vm_writev(2), as profiles of
# containers do, `cpprof dump` shows the same stacks, and `cpprof record -p` attaches.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
cpprof=$BUILD/bin/cpprof

guest "$victims/disturbed" read nanosleep registers
process=$guest
wait_until has_line guest.out ready

# dump FILE [COMMAND...]: whether the stacks show the thread that waits again and again.
dump() {
    dump_file=$1
    shift
    "$@" "$cpprof" dump -p "$process" >"$dump_file" 2>err || fail "dump: $(cat err)"
    grep -q wait_once "$dump_file"
}
wait_until dump plain
for answer in refuse lack; do
    confined="$victims/confined before $answer process_vm_readv,process_vm_writev --"
    # shellcheck disable=SC2086 # words of a command
    wait_until dump dump.$answer $confined
    expect_equal "threads with \"$answer\"" "$(grep -c '^thread ' plain)" "$(grep -c '^thread ' dump.$answer)"
    $confined "$cpprof" record -p "$process" -e cpu,heap -d 1 -o $answer.pb.gz >err 2>&1 || fail "record -p, $answer: $(cat err)"
    raw $answer.cpu.pb.gz
    expect_at_least "samples with \"$answer\"" 1 "$(weight_with $answer.cpu.pb.gz.raw use_registers)"
done
ends_with 0 "$process"
! grep -q '^disturbed' guest.out || fail "disturbed: $(cat guest.out)"
echo ok
