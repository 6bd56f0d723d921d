#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_lines_split.sh: symbolize=lines and `cpprof symbolize` with split debug information: in a .dwo file where the compiler put it,
# beside the program, and in a .dwp file; with units of several ranges; and what is left without these files.
# timeout: 900
# nightly: 2
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go cc
source=$SRC/test/e2e/lines/variant.c
number() { line_of "$source" "$1"; }
whole="inner $source:$(number 'pprof_profile_add')|middle $source:$(number 'return inner')|outer $source:$(number 'return middle')|main $source:$(number 'outer(things)')|"

build() { # COMPILER FLAGS...
    with=$1
    shift
    rm -rf ./*
    "$with" -O1 -gsplit-dwarf "$@" -I "$SRC/include" -o program "$source" "$library" -Wl,-rpath,"${library%/*}" 2>messages
}

# expect_lines WHAT: the library finds them when it writes the profile, and cpprof later; both say that nothing is missing.
expect_lines() {
    LIBPPROF=symbolize=lines ./program now.pb.gz
    ./program p.pb.gz
    "$BUILD/bin/cpprof" symbolize -o later.pb.gz p.pb.gz
    for profile in now.pb.gz later.pb.gz; do
        found=$(places $profile | cut -f 2- | tr '\t\n' '||')
        case $found in
        "$whole"*) ;;
        *) fail "$1, $profile: found $found" ;;
        esac
        go tool pprof -symbolize=none -raw $profile 2>/dev/null | grep -q '^1: .* \[FN\]\[FL\]\[LN\]\[IN\]$' ||
            fail "$1, $profile: the mapping does not say that it has lines"
    done
}

tried=
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for flags in -gdwarf-4 -gdwarf-5 "-gdwarf-5 -gz" "-gdwarf-4 -ffunction-sections" "-gdwarf-5 -ffunction-sections"; do
        # shellcheck disable=SC2086 # several flags
        build $compiler $flags || continue
        tried=yes
        expect_lines "$compiler $flags"
        mkdir moved && mv program ./*.dwo moved
        cd moved || exit 1
        expect_lines "$compiler $flags, moved"
        cd ..
    done
done
[ -n "$tried" ] || skip "no compiler splits debug information"

# llvm-dwp 14 does not come to an end with gcc's files, and dwp knows no DWARF 5.
packed() { # TOOL COMPILER FLAGS
    command -v "$1" >/dev/null && command -v "$2" >/dev/null || return 0
    build "$2" "$3" || return 0
    timeout 60 "$1" -e program -o program.dwp 2>messages || fail "$1: $(cat messages)"
    rm -f ./*.dwo
    expect_lines "$1 $2 $3"
}
packed llvm-dwp clang -gdwarf-5
packed llvm-dwp clang -gdwarf-4
packed dwp gcc -gdwarf-4

# Without the file the lines are there, and the inlined functions are not: the mapping does not say that it is complete.
build cc -gdwarf-5 && rm -f ./*.dwo
./program p.pb.gz
"$BUILD/bin/cpprof" symbolize p.pb.gz
expect_equal "without the .dwo file" "outer $source:$(number pprof_profile_add)" "$(places p.pb.gz | cut -f 2 | head -n 1)"
go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null | sed -n '/^Mappings/,$p' | grep '^1: ' | grep -q '\[' &&
    fail "without the .dwo file: the mapping says that nothing is missing"
echo ok
