#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_http_collector.sh: heap?gc=1 runs the collector that the program has set, before the profile is taken; nothing else
# does.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3

mkfifo program.in
"$linked/http_collector" <program.in >program.out 2>program.err &
program=$!
started="$started $program"
exec 9>program.in
wait_until test -s program.out
url=http://127.0.0.1:$(cat program.out)/debug/pprof

# in_use FILE: the bytes that makes_garbage has in use, as the Go tool reads it.
in_use() {
    go_pprof "$as_written" -sample_index=inuse_space -unit=B -top "$1" 2>/dev/null |
        awk '$NF == "makes_garbage" { print $1 }'
}

# None of these runs the collector: the garbage is there.
for request in '/heap' '/heap?gc=0' '/heap?gc=-1' '/heap?gc=x' '/heap?gc=' '/allocs?gc=1' '/allocs'; do
    get garbage.pb.gz "$request"
    expect_equal "bytes in use by $request" 100000B "$(in_use garbage.pb.gz)"
done
get delta.pb.gz '/heap?seconds=1&gc=1'
get thread.pb.gz '/thread?gc=1'
get garbage.txt '/heap?debug=1'
grep -q '^100: 100000 \[100: 100000\] @ ' garbage.txt || fail "no garbage in: $(cat garbage.txt)"

get clean.pb.gz '/heap?gc=1'
expect_equal "bytes in use after a collection" "" "$(in_use clean.pb.gz | grep -v '^0$')"
get clean.txt '/heap?debug=1&gc=1'
grep -q '^0: 0 \[100: 100000\] @ ' clean.txt || fail "no swept site in: $(cat clean.txt)"

exec 9>&-
wait "$program" || fail "the program ends with $?"
expect_equal "how often it has collected" "2 collections" "$(tail -n 1 program.out)"
echo ok
