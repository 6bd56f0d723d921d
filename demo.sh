#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ./demo.sh: installs what is missing, builds libpprof, and profiles a program that knows nothing of
# it: the perl that every Debian has, counting words in files of this machine. It is stripped and has
# no frame pointers, but its dynamic symbols name most of its functions.
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

# What perl is to read: 40 MB of what lies in /usr, always in the same order.
input=build/demo/usr.data
if [ ! -s $input ]; then
    say "Collecting 40 MB from /usr ($input)"
    { find /usr/bin /usr/lib /usr/share -type f -size -2000k 2>/dev/null | LC_ALL=C sort |
        tr '\n' '\0' | xargs -0 cat 2>/dev/null || true; } | head -c 40000000 >$input
fi
cat >build/demo/words.pl <<'PERL'
# Counts the words of its input and prints the ten most frequent.
my %count;
while (<>) {
    $count{lc $_}++ for split /\W+/;
}
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
printf "%8d %s\n", $count{$_}, $_ for @words[0 .. 9];
PERL

say "Profiling perl, as it is installed, counting words"
profile=build/demo/perl.pb.gz
set -- perl build/demo/words.pl $input $input $input $input
echo "$cpprof record -o $profile -- $*"
if ! $cpprof record -o $profile -- "$@" >build/demo/words.txt 2>build/demo/record.log; then
    cat build/demo/record.log
    echo "demo.sh: cpprof record failed; its messages stand above" >&2
    exit 1
fi

say "Where it spent its time: $cpprof top -n 15 $profile"
$cpprof top -n 15 $profile

say "What you have now"
if ! $cpprof help flame 2>&1 | grep -qi 'not in this version'; then
    $cpprof flame -o build/demo/perl.html $profile
    echo "The flame graph: $PWD/build/demo/perl.html (open it in a browser)"
fi
cat <<TEXT
The profile: $PWD/$profile

Next, from this folder:
    $cpprof top --cum $profile          # callees counted with their callers
    $cpprof record -o my.pb.gz -- YOUR-PROGRAM
    $cpprof help
    go tool pprof -http=: $profile      # the same profile in Go's own tool
TEXT
