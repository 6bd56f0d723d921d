#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
# nightly: 2
#
# test_lines_variants.sh: symbolize=lines with debug information of each form: versions of DWARF, compression, in files
# apart that are found by build id, by name and by checksum, shared (dwz), of programs that are not
# position-independent; without any; and of another build.
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go cc objcopy strip readelf
source=$SRC/test/e2e/lines/variant.c
number() { line_of "$source" "$1"; }
whole="inner $source:$(number 'pprof_profile_add')|middle $source:$(number 'return inner')|outer $source:$(number 'return middle')|"
in_main="main $source:$(number 'outer(things)')|"

build() { # COMPILER FLAGS...
    build_with=$1
    shift
    rm -rf program program.* .debug
    $build_with -O1 "$@" -I "$SRC/include" -o program "$source" "$library" -Wl,-rpath,"${library%/*}" 2>messages ||
        return 1
}

run() { # [PROGRAM]
    rm -f p.pb.gz
    LIBPPROF=symbolize=lines "${1:-./program}" p.pb.gz 2>errors || fail "the program: $? $(cat errors)"
    expect_equal "messages" "" "$(cat errors)"
}

# expect_lines WHAT: all of them, and the mapping says so.
expect_lines() {
    run "./program"
    found=$(places p.pb.gz | cut -f 2- | tr '\t\n' '||')
    case $found in
    "$whole$in_main"*) ;;
    *) fail "$1: found $found" ;;
    esac
    go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null | grep -q '^1: .* \[FN\]\[FL\]\[LN\]\[IN\]$' ||
        fail "$1: the mapping does not say that it has lines"
}

# expect_names WHAT [PROGRAM]: as without lines.
expect_names() {
    run "${2:-./program}"
    expect_equal "$1" "outer|main|" "$(places p.pb.gz | cut -f 2 | head -n 2 | tr '\n' '|')"
    go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null | sed -n '/^Mappings/,$p' | grep '^1: ' | grep -q '\[' &&
        fail "$1: the mapping says that it has lines"
    return 0
}

# ---- forms ----

for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-gdwarf-4 -fdebug-types-section" "-g -gz=zlib" "-g -gz=zlib-gnu" "-g3" "-g -no-pie" \
    "-g -Wl,--build-id=none" "-g -flto"; do
    # shellcheck disable=SC2086 # several flags
    if build cc $flags; then
        expect_lines "cc $flags"
    else
        echo "not here: cc $flags"
    fi
done
if command -v clang >/dev/null; then
    for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-g -gz"; do
        # shellcheck disable=SC2086
        build clang $flags || fail "clang $flags: $(cat messages)"
        expect_lines "clang $flags"
    done
fi

build cc && expect_names "without debug information"

# ---- functions are told in another file: test_lines_split.sh ----

if build cc -gdwarf-5 -gsplit-dwarf; then
    expect_lines "split"
    rm -f *.dwo
    run
    expect_equal "split, without the other file" "outer $source:$(number pprof_profile_add)" "$(places p.pb.gz | cut -f 2 | head -n 1)"
    go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null | sed -n '/^Mappings/,$p' | grep '^1: ' | grep -q '\[' &&
        fail "split: the mapping says that nothing is missing"
fi

# ---- files apart ----

separate() { # the debug information into program.debug, and a link to it
    objcopy --only-keep-debug program program.debug
    objcopy --strip-all --add-gnu-debuglink=program.debug program
}
build cc -g && separate
expect_lines "a debug file beside the program"
mkdir .debug && mv program.debug .debug
expect_lines "a debug file in .debug"
rm -r .debug

# Not of this build: another source, another build id.
build cc -g -DOTHER && separate && mv program.debug other.debug
build cc -g -O2 && separate && mv other.debug program.debug
case $(readelf -n program program.debug 2>/dev/null | sed -n 's/.*Build ID: //p' | sort -u | wc -l) in
1) echo "the two builds are the same" ;;
*) expect_equal "the debug file of another build" "" "$(run; places p.pb.gz | grep ':[1-9]')" ;;
esac

# Without a build id the checksum tells.
build cc -g -Wl,--build-id=none && separate
expect_lines "a debug file with the right checksum"
printf x >>program.debug
expect_equal "a debug file with another checksum" "" "$(run; places p.pb.gz | grep ':[1-9]')"

# Below /usr/lib/debug, where we may write there: with the name of a build id that nobody else has.
if build cc -g "-Wl,--build-id=0x$(od -An -N 18 -tx1 /dev/urandom | tr -d ' \n')cafe" && [ -w /usr/lib ]; then
    id=$(readelf -n program | sed -n 's/.*Build ID: //p')
    folder=/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)
    file=$folder/$(echo "$id" | cut -c 3-).debug
    objcopy --only-keep-debug program program.debug
    strip --strip-all program
    if mkdir -p "$folder" 2>/dev/null && cp program.debug "$file" 2>/dev/null; then
        trap 'rm -f "$file"; rmdir "$folder" 2>/dev/null || :; finish' EXIT
        expect_lines "a debug file that is found by its build id"
        rm -f "$file"
        rmdir "$folder" 2>/dev/null || :
    fi
fi

# What two programs share is in a third file.
if command -v dwz >/dev/null; then
    build cc -g && cp program program.two && mkdir -p shared
    dwz -m shared/common.debug -M "$work/shared/common.debug" program program.two 2>messages ||
        echo "dwz: $(cat messages)"
    expect_lines "dwz"
fi

# ---- another build in its place ----

build cc -g && cp program first
build cc -g -O2 -DOTHER && cp program second
cat >swap.c <<'C'
#include <stdlib.h>
__attribute__((constructor)) static void swap(void)
{
    const char *command = getenv("SWAP");
    unsetenv("SWAP");
    unsetenv("LD_PRELOAD");
    if (command != NULL && system(command) != 0)
        abort();
}
C
cc -shared -fPIC -o swap.so swap.c
# The file that runs is still there for the process itself.
for command in "rm running" "cp second new && mv new running"; do
    cp first running
    SWAP=$command LD_PRELOAD=$work/swap.so LIBPPROF=symbolize=lines ./running p.pb.gz 2>errors ||
        fail "running: $(cat errors)"
    found=$(places p.pb.gz | cut -f 2- | tr '\t\n' '||')
    case $found in
    "$whole$in_main"*) ;;
    *) fail "after '$command': found $found" ;;
    esac
done

# A library has no such second way: its file is not used if it is another one. The name comes from what is loaded.
cat >in_library.c <<'C'
#include <pprof.h>
__attribute__((noinline)) int add_in_library(pprof_profile *things)
{
    return pprof_profile_add(things, &things, 0) + 1 - 1;
}
C
cc -g -O1 -shared -fPIC -I "$SRC/include" -o libfirst.so in_library.c "$library"
cc -g -O2 -DOTHER=2 -shared -fPIC -I "$SRC/include" -o libother.so in_library.c "$library" -Wl,--build-id=0xabcd
cat >uses.c <<'C'
#include <fcntl.h>
#include <pprof.h>
#include <stdlib.h>
int add_in_library(pprof_profile *things);
int main(int argc, char **argv)
{
    pprof_profile *things = pprof_new_profile("things");
    if (add_in_library(things) != 0 || argc != 3 || system(argv[2]) != 0)
        return 1;
    return pprof_profile_write(things, pprof_writer_fd(open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600)), 0);
}
C
cp libfirst.so libused.so
cc -g -I "$SRC/include" -o uses uses.c -L. -lused "$library" -Wl,-rpath,"$work:${library%/*}"
library_line() { go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null | sed -n 's/.* \(add_in_library .*\) s=.*/\1/p' | sed 's/:0:0$/:0/'; } # older ones print no column
LIBPPROF=symbolize=lines ./uses p.pb.gz "true" || fail "uses: $?"
case $(library_line) in
*in_library.c:4*) ;;
*) fail "no line in the library: $(library_line)" ;;
esac
LIBPPROF=symbolize=lines ./uses p.pb.gz "cp libother.so new && mv new libused.so" || fail "uses: $?"
expect_equal "what is known of another library" "add_in_library :0" "$(library_line)"
echo ok
