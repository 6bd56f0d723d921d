#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_api.sh: <pprof.h> from a program that is linked to the library, and to libpprof.a.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout cc

worked() { awk '$1 == "api_work" { printf "%.0f\n", $2 }' "$1.said"; } # milliseconds

# A case prints what does not hold on stderr, so the text and the status are one check.
run_cases() { # PROGRAM
    for name in start-stop options failing-writer bad-descriptors small-pipe other-thread \
        concurrent-stops reentrant-writer many callers version earlier-handler; do
        [ "$(status timeout -s KILL 60 "$1" $name 2>errors | tail -n 1)" = 0 ] ||
            fail "$1 $name: $(cat errors)"
    done
    "$1" configure "$work/configured.pb.gz" >configured.said 2>errors || fail "$1 configure: $(cat errors)"
    expect_equal "times that the unknown option is named" 2 "$(grep -c "'nonsense'" errors)"
    raw configured.pb.gz
    expect_near "weight of api_work" "$(worked configured)" "$(weight_with configured.pb.gz.raw api_work main)" 15
    rm configured.pb.gz

    for format in proto legacy; do
        "$1" $format "$work/$format" >$format.said 2>errors || fail "$1 $format: $(cat errors)"
    done
    raw proto
    expect_near "weight of api_work" "$(worked proto)" "$(weight_with proto.raw api_work main)" 15
    # The legacy format has no names: the reader gets them from the program.
    go_pprof -top -unit=ms legacy >legacy.top 2>legacy.err || fail "legacy: $(cat legacy.err)"
    go_pprof -raw legacy >legacy.raw 2>/dev/null
    expect_near "weight in the legacy format" "$(worked legacy)" "$(weight legacy.raw)" 15
    awk '$NF == "api_work" { found = 1 } END { exit !found }' legacy.top ||
        fail "no api_work in the legacy profile: $(cat legacy.top legacy.err)"
}
run_cases "$linked/api"

# The same program with the library in it.
cc -g -O1 -pthread -I "$SRC/include" -D_GNU_SOURCE -o api_static "$SRC/test/e2e/linked/api.c" \
    "$BUILD/lib/libpprof.a" -lz -ldl 2>cc.errors || fail "libpprof.a: $(cat cc.errors)"
if command -v readelf >/dev/null; then
    ! readelf -d api_static | grep -q libpprof || fail "api_static needs libpprof.so"
fi
run_cases "$work/api_static"

# A program that calls the library and is preloaded with it has one of them, and one profile at a time.
LIBPPROF=cpu,file=$work/both.pb.gz
export LIBPPROF
[ "$(status env LD_PRELOAD="$library" "$linked/api" version)" = 0 ] || fail "linked and preloaded"
raw both.pb.gz
echo ok
