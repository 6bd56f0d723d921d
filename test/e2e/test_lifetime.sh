#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_lifetime.sh: the lifetime profile: the blocks of each pair of stacks, and the time that they lived, in threads, by
# realloc, in a child of fork; on request, and of a program that frees nothing.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# A line for each sample: blocks, bytes and microseconds, those that each lived at least, a tab, and the names of its stack.
samples() { # RAW
    awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 2 }
        part == 1 && /^ *[0-9]+ +[0-9]+ +[0-9]+:/ { numbers = $1 " " $2 " " $3 + 0 }
        part == 1 && /lifetime:\[/ { sub(/.*lifetime:\[/, ""); sub(/[^0-9].*/, ""); print numbers, $0 }' "$1" >values
    stacks "$1" | paste values -
}

# What the program says, against the profile: blocks and bytes are equal; their time is within what the program has measured,
# and each class within what its blocks lived.
compare() { # SAID RAW
    samples "$2" >samples
    awk -F '\t' '
        NR == FNR {
            split($1, v, " "); at = 0
            for (i = 3; i <= NF; i++) if ($i == "pprof_freed") at = i
            if (!at) { print "a stack is not joined: " $0; bad = 1; next }
            if (v[3] < v[1] * v[4] || (v[4] > 0 && v[3] >= 2 * v[1] * v[4]) || (v[4] == 0 && v[3] != 0)) {
                print "of another class: " $0; bad = 1 }
            delete freed; delete allocated
            for (i = 3; i < at; i++) freed[$i]
            for (i = at + 1; i <= NF; i++) allocated[$i]
            for (a in allocated) for (f in freed) {
                blocks[a, f] += v[1]; bytes[a, f] += v[2]; us[a, f] += v[3] }
            next
        }
        { split($0, w, " "); a = w[1]; f = w[2] }
        blocks[a, f] != w[3] || bytes[a, f] != w[4] {
            print $0, "but", blocks[a, f] + 0, "blocks of", bytes[a, f] + 0, "bytes are shown"; bad = 1 }
        # each is rounded down
        us[a, f] > w[6] || us[a, f] < w[5] - w[3] { print $0, "but", us[a, f] + 0, "us are shown"; bad = 1 }
        END { exit bad }' samples "$1" || fail "$1 and $2 differ"
}

# A program that ends, and its child.
preload "lifetime:1,subprocesses,file=$work/%p.pb.gz" "$victims/lifetimes" >said
grep drop_in_child said >child.said
grep -v drop_in_child said >parent.said
expect_equal "profiles" 2 "$(find . -name '*.pb.gz' | wc -l)"
for profile in *.pb.gz; do
    raw "$profile"
    compare parent.said "$profile.raw"
    if grep -q drop_in_child "$profile.raw"; then
        compare child.said "$profile.raw"
        rm -f child.said
    fi
    last=$profile.raw
done
expect_no_file child.said
expect_equal "sample types" "freed_objects/count freed_space/bytes[dflt] lifetime/microseconds" \
    "$(sed -n '/^Samples:/{n;p;}' "$last")"
expect_equal "period" "PeriodType: space bytes Period: 1" "$(grep '^Period' "$last" | tr '\n' ' ' | sed 's/ $//')"
! stacks "$last" | grep -qw 'malloc\|calloc\|realloc\|free' || fail "hooks are shown: $(stacks "$last")"
comments "$last" | grep -q 'freed in the last' || fail "comments: $(comments "$last")"

# With sampling the estimates are near: 1 000 blocks of 100 bytes, and 200 of 5 000.
preload "lifetime:64,file=$work/sampled.pb.gz" "$victims/lifetimes" >sampled.said
raw sampled.pb.gz
samples sampled.pb.gz.raw | cat >samples
expect_near "blocks freed" 1000 "$(awk '{ sum += $1 } END { print sum }' samples)" 150

# On request: the first one begins the recording. Blocks may end while it is answered: hence attempts.
fetch() { timeout 60 "$BUILD/bin/cpprof" merge -o "$1" "unix:$work/socket:/debug/pprof/lifetime$2" || fail "no $1"; }
check_requests() {
    rm -f input socket loop.said
    mkfifo input
    preload "heap:1,http=unix:$work/socket" "$victims/lifetimes" loop <input >loop.said 2>loop.err &
    process=$!
    started="$started $process"
    exec 9>input
    wait_until has_line loop.said ready
    fetch first.pb.gz ''
    fetch second.pb.gz '?seconds=1'
    ends_with 0 $process
    raw first.pb.gz
    expect_equal "samples before the first request" 0 "$(stacks first.pb.gz.raw | wc -l)"
    raw second.pb.gz
    expect_at_least "blocks of a second" 1 "$(weight_with second.pb.gz.raw drop_blocks pprof_freed make_blocks)"
}
attempts 3 check_requests

# By cpprof, also of a program that frees nothing.
"$BUILD/bin/cpprof" record -e lifetime:1 --no-subprocesses -o recorded.pb.gz -- "$victims/lifetimes" >recorded.said 2>recorded.err ||
    fail "record: $(cat recorded.err)"
grep -v drop_in_child recorded.said >parent.said
raw recorded.pb.gz
compare parent.said recorded.pb.gz.raw
"$BUILD/bin/cpprof" record -e lifetime:1g -o none.pb.gz -- true >none.said 2>none.err || fail "record: $(cat none.err)"
expect_contains "record of nothing" none.err "no sampled block was freed"
echo ok
