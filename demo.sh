#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ./demo.sh: installs what is missing, builds libpprof, and profiles a program that knows nothing of
# it: the xz that the distribution ships, compressing files of this machine.
#
# Asks nothing, needs no terminal, can be called from anywhere. Everything it writes lies in build/.

set -eu
exec </dev/null
cd "$(dirname "$0")"

tools/bootstrap build

jobs=$(nproc 2>/dev/null || echo 2)
[ "$jobs" -le 8 ] || jobs=8

say() {
    printf '\n== %s\n' "$*"
}

say "Building libpprof and cpprof (build/release)"
# The tests need more than the demo does; where that is installed, leave them in.
tests=OFF
! echo '#include <cmocka.h>' | cc -include stdarg.h -include stddef.h -include stdint.h \
    -include setjmp.h -E - >/dev/null 2>&1 || tests=ON
mkdir -p build/demo
if ! {
    cmake --preset release -DPPROF_TESTS=$tests &&
        cmake --build --preset release -j "$jobs" --target cpprof pprof
} >build/demo/build.log 2>&1; then
    cat build/demo/build.log
    echo "demo.sh: the build failed; its messages stand above and in build/demo/build.log" >&2
    exit 1
fi
cpprof=build/release/bin/cpprof

# 40 MB of what lies in /usr: programs, libraries and text, always in the same order.
input=build/demo/usr.data
if [ ! -s $input ]; then
    say "Collecting 40 MB from /usr ($input)"
    { find /usr/bin /usr/lib /usr/share -type f -size -2000k 2>/dev/null | LC_ALL=C sort |
        tr '\n' '\0' | xargs -0 cat 2>/dev/null || true; } | head -c 40000000 >$input
fi

say "Profiling xz, as it is installed: $cpprof record -- xz -2 -k -c $input"
$cpprof record -o build/demo/xz.pb.gz -- xz -2 -k -c $input >build/demo/usr.data.xz

say "Where it spent its time: $cpprof top build/demo/xz.pb.gz"
$cpprof top build/demo/xz.pb.gz

say "What you have now"
ls -l build/demo/xz.pb.gz build/demo/usr.data.xz
if $cpprof help flame >/dev/null 2>&1; then
    $cpprof flame -o build/demo/xz.html build/demo/xz.pb.gz
    echo "The flame graph: $PWD/build/demo/xz.html (open it in a browser)"
fi
cat <<TEXT
The profile: $PWD/build/demo/xz.pb.gz

Next, from this folder:
    $cpprof top --cum build/demo/xz.pb.gz           sorted by what a function and its callees took
    $cpprof help                                    everything that cpprof does
    $cpprof record -o my.pb.gz -- YOUR-PROGRAM      profile a program of yours
    go tool pprof -http=: build/demo/xz.pb.gz       the same profile in Go's own tool
TEXT
