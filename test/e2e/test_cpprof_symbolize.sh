#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_cpprof_symbolize.sh: `cpprof symbolize` and the reports that show lines add files, lines and inlined functions to a profile that
# has only names, from every place that debug information can be in; they use no file of another build, and say what is missing.
# timeout: 900
# nightly: 1
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go cc objcopy strip
cpprof=$BUILD/bin/cpprof
source=$SRC/test/e2e/lines/variant.c
number() { line_of "$source" "$1"; }
whole="inner $source:$(number 'pprof_profile_add')|middle $source:$(number 'return inner')|outer $source:$(number 'return middle')|main $source:$(number 'outer(things)')|"
export DEBUGINFOD_CACHE_PATH="$work/cache"
unset DEBUGINFOD_URLS

build() { # FLAGS...
    rm -rf program program.* .debug
    cc -O1 "$@" -I "$SRC/include" -o program "$source" "$library" -Wl,-rpath,"${library%/*}" || fail "cc $*"
    ./program p.pb.gz
}

separate() {
    objcopy --only-keep-debug program program.debug
    objcopy --strip-all --add-gnu-debuglink=program.debug program
}

# expect_lines WHAT: symbolize writes all of them.
expect_lines() {
    cp p.pb.gz q.pb.gz
    "$cpprof" symbolize q.pb.gz 2>err || fail "$1: $(cat err)"
    found=$(places q.pb.gz | cut -f 2- | tr '\t\n' '||')
    case $found in
    "$whole"*) ;;
    *) fail "$1: found $found; $(cat err)" ;;
    esac
    go tool pprof -symbolize=none -raw q.pb.gz 2>/dev/null | grep -q '^1: .* \[FN\]\[FL\]\[LN\]\[IN\]$' ||
        fail "$1: the mapping does not say that it has lines"
}

# expect_none WHAT MESSAGE: symbolize adds none to the program, and says why.
expect_none() {
    "$cpprof" symbolize -o q.pb.gz p.pb.gz 2>err || fail "$1: $(cat err)"
    expect_equal "$1" "" "$(places q.pb.gz | grep ':[1-9]')"
    grep -qF "$2" err || fail "$1: expected '$2', found $(cat err)"
    go tool pprof -symbolize=none -raw q.pb.gz 2>/dev/null | grep '^1: .*\[FN\]' && fail "$1: the mapping says that it has lines"
    return 0
}

# ---- places of debug information

for flags in -gdwarf-4 -gdwarf-5 "-g -gz" "-g -no-pie" "-g -Wl,--build-id=none" "-g1"; do
    # shellcheck disable=SC2086 # several flags
    build $flags
    case $flags in
    -g1) "$cpprof" symbolize -o q.pb.gz p.pb.gz && places q.pb.gz | grep -q "middle $source" || fail "-g1" ;;
    *) expect_lines "$flags" ;;
    esac
done
expect_same_places q.pb.gz program
build -g && separate
expect_lines "a debug file beside the program"
mkdir .debug && mv program.debug .debug
expect_lines "a debug file in .debug"
build -g -Wl,--build-id=none && separate
expect_lines "a debug file with the right checksum"
printf x >>program.debug
expect_none "a debug file with another checksum" "no lines of program: the separate debug information (.gnu_debuglink) is of another build"
if command -v dwz >/dev/null; then
    build -g && cp program program.two
    dwz -m common.debug -M "$work/common.debug" program program.two 2>messages || fail "dwz: $(cat messages)"
    expect_lines "dwz"
fi
build -g -no-pie && separate && rm program
expect_none "the program is gone" "no lines of program: the file is not here"

# ---- what does not fit is not used

build -g && cp program first
cc -g -O2 -DOTHER -I "$SRC/include" -o program "$source" "$library" -Wl,--build-id=0xabcd
expect_none "another build" "no lines of program: the file is of another build than"
build && expect_none "no debug information" "no lines of program: no debug information: compile it with -g"
mkdir -p dpkg/info && echo "$work/program" >dpkg/info/tools.list && : >dpkg/status
CPPROF_DPKG=$work/dpkg expect_none "a package" "no lines of program: no debug information: apt install tools-dbgsym"

# ---- debuginfod, only when the user has set it

build -g
id=$(go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null | sed -n 's/^1: .* \([0-9a-f]\{40\}\).*/\1/p' | head -n 1)
mkdir -p "server/buildid/$id" && objcopy --only-keep-debug program "server/buildid/$id/debuginfo" && strip --strip-all program
expect_none "debuginfod that is not asked for" "no lines of program: no debug information"
if ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1; then
    DEBUGINFOD_URLS=file://$work/server expect_lines "debuginfod"
fi

# ---- files: whole or not at all

build -g
cp p.pb.gz before.pb.gz
refused=0
"$cpprof" symbolize -o none/q.pb.gz p.pb.gz 2>err || refused=$?
expect_equal "a folder that does not exist" 1 $refused
"$cpprof" symbolize - <p.pb.gz 2>err || refused=$?
expect_equal "standard input without -o" 2 $refused
cmp -s p.pb.gz before.pb.gz || fail "a failure has changed the file"
"$cpprof" symbolize -o q.pb.gz - <p.pb.gz || fail "standard input"
"$cpprof" symbolize p.pb.gz
"$cpprof" raw p.pb.gz >once && "$cpprof" raw q.pb.gz | cmp -s - once || fail "in place and -o differ"
"$cpprof" symbolize --force p.pb.gz
"$cpprof" raw p.pb.gz | cmp -s - once || fail "the second time differs from the first"
mv program elsewhere
"$cpprof" symbolize --force p.pb.gz 2>err || fail "without the program: $(cat err)"
"$cpprof" raw p.pb.gz | cmp -s - once || fail "without the program a profile with lines says that it has none"
mv elsewhere program

# ---- reports

"$cpprof" top --lines before.pb.gz | grep -q "$source:$(number 'pprof_profile_add') (inline)" || fail "top --lines"
"$cpprof" top --lines --symbolize=none before.pb.gz | grep -q "$source" && fail "top --lines --symbolize=none"
"$cpprof" top before.pb.gz | grep -q inner && fail "top shows inlined functions without being asked to"
"$cpprof" top --symbolize=local before.pb.gz | grep -q 'inner (inline)' || fail "top --symbolize=local"
refused=0
"$cpprof" top --symbolize=some before.pb.gz 2>err || refused=$?
expect_equal "an unknown word" 2 $refused
for go in $gos; do
    for expression in inner 'middle|outer' '^main$'; do
        "$go" tool pprof -symbolize=none -list "$expression" p.pb.gz >theirs 2>/dev/null
        "$cpprof" list "$expression" before.pb.gz 2>err | diff theirs - >differences || fail "list $expression: $(cat differences)"
        [ ! -s err ] || fail "list $expression: $(cat err)"
    done
done

# A file without lines is named only if it may have the function; libc's has no part in it.
"$cpprof" list inner before.pb.gz 2>err >found
[ ! -s err ] || fail "list inner misses what it does not show: $(cat err)"

# A function that is nowhere may be an inlined one of a file without lines.
cp program program.with && strip program
"$cpprof" list inner before.pb.gz 2>err >found && fail "list inner finds what is not there"
grep -q 'no lines of program: no debug information' err || fail "list inner does not say what is missing: $(cat err)"
mv program.with program

"$cpprof" flame --sources -o page.html before.pb.gz && grep -q 'return pprof_profile_add(things, things, 0)' page.html || fail "flame --sources"
"$cpprof" flame --sources --symbolize=none -o page.html before.pb.gz
grep -q 'return pprof_profile_add(things, things, 0)' page.html && fail "flame --sources --symbolize=none"

# ---- names

if command -v c++ >/dev/null; then
    cat >names.cc <<'CC'
#include <fcntl.h>
#include <pprof.h>
namespace app {
template <typename T> __attribute__((noinline)) int add(pprof_profile *things, T key)
{
    return pprof_profile_add(things, reinterpret_cast<void *>(key), 0) + 1;
}
}
int main(int, char **argv)
{
    pprof_profile *things = pprof_new_profile("things");
    return app::add<long>(things, 7) + pprof_profile_write(things, pprof_writer_fd(open(argv[1], O_WRONLY | O_CREAT, 0600)), 0) - 1;
}
CC
    c++ -g -O1 -I "$SRC/include" -o names names.cc "$library" -Wl,-rpath,"${library%/*}"
    ./names n.pb.gz && "$cpprof" symbolize n.pb.gz
    go tool pprof -symbolize=none -top n.pb.gz 2>/dev/null | grep -q ' app::add$' || fail "the name is not demangled"
    "$cpprof" top --demangle=none n.pb.gz | grep -q ' _ZN3app3addIlEEi' || fail "the symbol is lost"
    "$cpprof" list app::add n.pb.gz | grep -q "return pprof_profile_add" || fail "list of a C++ function"
fi

# ---- without libpprof-dwarf.so

mkdir -p alone/bin && cp "$cpprof" alone/bin
LD_LIBRARY_PATH='' alone/bin/cpprof list outer before.pb.gz >out 2>err || fail "list without the library: $(cat err)"
expect_equal "messages" 1 "$(grep -c "libpprof-dwarf.so cannot be loaded" err)"
alone/bin/cpprof top before.pb.gz >out 2>err || fail "top without the library"
[ ! -s err ] || fail "top speaks of lines: $(cat err)"
echo ok
