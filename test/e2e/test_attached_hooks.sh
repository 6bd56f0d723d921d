#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 3
#
# test_attached_hooks.sh: profiles that need hooks, in a program that has loaded the library while it ran: heap, block,
# mutex, fd; and that `detach` leaves each word, signal, thread and descriptor as it was.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"
need python3

# ---- heap ----

# What was allocated before is not in the profile, whatever becomes of it. From then on every byte is.
start
tell allocate 500 >/dev/null
settle
attach_again
answer "configure heap:1" >/dev/null
expect_equal "blocks from before" 0 "$(in_use keep_blocks)"
tell allocate 1000 >/dev/null
expect_equal "bytes in use" 1000000 "$(in_use keep_blocks)"
tell release >/dev/null
expect_equal "bytes in use after the release" 0 "$(in_use keep_blocks)"
tell allocate 700 >/dev/null
expect_equal "bytes in use again" 700000 "$(in_use keep_blocks)"

# Blocks that were sampled are freed after the end, and other blocks come to their places.
detach
wait_until same_facts before after
tell release >/dev/null
tell allocate 2000 >/dev/null
attach_again
answer "configure heap:1" >/dev/null
expect_equal "blocks of the last attachment" 0 "$(in_use keep_blocks)"
tell release >/dev/null
tell allocate 10 >/dev/null
expect_equal "bytes in use in the second attachment" 10000 "$(in_use keep_blocks)"

# ---- block, mutex, fd, with work ----

tell work >/dev/null
answer "configure heap=off,block:1,mutex:1,fd" >/dev/null
expect_equal "what is on" "on block:1 mutex:1 fd" "$(answer status | grep '^on')"
shows() {
    answer "$1" >shown.pb.gz
    "$cpprof" top shown.pb.gz 2>/dev/null | grep -q "$2"
}
wait_until shows block hold_lock
wait_until shows mutex hold_lock
tell open >/dev/null
shows fd open_file || fail "no open_file in the fd profile"
tell threads >/dev/null
expect_equal "state in a child" "child 0" "$(tell fork)"
tell cancel >/dev/null
detach
end

# ---- many times, in a storm ----

# Libc binds words of its own when it has many stacks of threads to free.
no_facts='^/.*libc[.]so'
each_kind() {
    for kinds in heap:1 block:1,mutex:1 fd,cpu:1000 engine=perf,cpu:1000 alloctrace,duration=100s,heap crash=quit,thread \
        "signal=USR2,interval=100s,http=127.0.0.1:0,file=$work/%k" crash; do
        attach_again
        answer "configure $kinds" >/dev/null
        tell allocate 100 >/dev/null
        detach
        tell release >/dev/null
    done
}

start
tell storm >/dev/null
tell calm >/dev/null
tell allocate 1 >/dev/null
tell release >/dev/null
attach
detach
each_kind
facts before
facts before
tell storm >/dev/null
each_kind
python3 "$SRC/test/e2e/attach/cycles.py" 7 8 "$at" 200 7>&9 8<&8 || fail "the cycles"
tell calm >/dev/null
wait_until same_facts before after
tell allocate 100 >/dev/null
tell release >/dev/null
end
