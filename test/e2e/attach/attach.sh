# shellcheck shell=sh disable=SC2034,SC2120,SC2154 # scripts use the variables
# SPDX-License-Identifier: MIT
#
# attach.sh: what the scripts share that load the library into a program that runs (victims/attached.c). Included after
# lib.sh.
cpprof=$BUILD/bin/cpprof
attach_library=$BUILD/lib/libpprof-attach.so
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# start [COMMAND...]: begins the program; `tell LINE` has it do something, and prints its answer.
start() {
    rm -f guest.in guest.out guest.err
    mkfifo guest.in guest.out
    [ $# -gt 0 ] || set -- "$victims/attached"
    "$@" <guest.in >guest.out 2>guest.err &
    guest=$!
    started="$started $guest"
    exec 9>guest.in 8<guest.out
    at=$work/run/pprof/$guest.sock
}

tell() {
    echo "$*" >&9
    read -r told <&8 || fail "no answer to $*: $(cat guest.err)"
    echo "$told"
}

# attach [HOW]: loads the library, and waits until it is ready.
attach() {
    expect_equal "${1:-load}" "loaded" "$(tell "${1:-load}" "$attach_library")"
    expect_equal "state" "state 2" "$(tell state)"
}

detach() {
    answer detach >/dev/null
    expect_equal "state after detach" "state 5" "$(tell state)"
}

# settle: attaches and detaches, so that lazy words are filled in, and keeps the facts as "before".
settle() {
    attach
    detach
    attach_again
    detach
    facts before # the first time, functions of `facts` itself are bound
    facts before
}

attach_again() {
    expect_equal "attach again" "said 0" "$(tell say attach)"
    expect_equal "state" "state 2" "$(tell state)"
}

# in_use FUNCTION: the bytes of the heap profile that are in use below the function.
in_use() {
    answer heap >heap.pb.gz
    "$cpprof" top --sample inuse_space --unit B -n 0 heap.pb.gz 2>/dev/null |
        awk -v name="$1" '$NF == name { sub("B", "", $4); found = $4 } END { print found + 0 }'
}

end() {
    ends_with 7 "$guest"
    exec 8<&-
    expect_equal "messages" "" "$(cat guest.err)"
}

# answer LINE: the body of an answer that must be 200.
answer() {
    python3 "$SRC/test/e2e/control/ask.py" "$at" "$1" >answer.txt || fail "no answer to $1"
    expect_equal "status of $1" 200 "$(sed -n 1p answer.txt)"
    sed 1d answer.txt
}

# facts FILE: the facts of the program (victims/attached.c), without those that $no_facts matches.
no_facts='^$'
facts() {
    tell facts "$work/facts" >/dev/null
    grep -v "$no_facts" facts >"$1"
}

# same_facts BEFORE AFTER: threads of ours may be about to end.
same_facts() {
    facts "$2"
    cmp -s "$1" "$2"
}
