#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_lines_hostile.sh: cpprof reads damaged debug information, whole and split, with changed bytes in each of its sections and cut off,
# and symbol tables and mini-debuginfo likewise. Each time it comes to an end, and not by a signal. HOSTILE_TIMES=1000 tries more.
# timeout: 1500
# nightly: 1
# sanitizers: yes
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need cc readelf timeout
cpprof=$BUILD/bin/cpprof
source=$SRC/test/e2e/lines/variant.c
times=${HOSTILE_TIMES:-6}
cc -O1 -o mutate "$SRC/test/e2e/lines/mutate.c" || fail "mutate.c"

# sections FILE: the offset and the size of each section that is read.
sections() {
    LC_ALL=C readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \(\.[a-z_.0-9]*\) *[A-Z0-9_]* *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2 \3/p' |
        while read -r name offset size; do
            case $name in
            .debug_info* | .debug_abbrev* | .debug_line* | .debug_str* | .debug_addr | .debug_r* | .debug_cu_index | .symtab | .strtab | .gnu_debugdata)
                echo "$((0x$offset)) $((0x$size))"
                ;;
            esac
        done
    echo "0 64" # the header of the file
    headers=$(LC_ALL=C readelf -hW "$1" | sed -n 's/.*Start of section headers: *\([0-9]*\) .*/\1/p')
    echo "$headers $(($(wc -c <"$1") - headers))"
}

# attack WHAT FILE: damages each part of it.
attack() {
    [ -s "$2" ] || fail "$1: no $2"
    cp "$2" whole
    sections whole >parts
    seed=0
    while read -r offset size; do
        [ "$size" -gt 0 ] || continue
        for _ in $(seq "$times"); do
            seed=$((seed + 1))
            ./mutate whole damaged $seed "$offset" "$size" || fail "mutate $1 $seed"
            mv damaged "$2"
            result=0
            timeout 60 "$cpprof" symbolize -o q.pb.gz p.pb.gz >out 2>err || result=$?
            [ "$result" -le 1 ] || fail "$1, seed $seed at $offset: status $result; $(tail -n 20 err)"
        done
    done <parts
    mv whole "$2"
}

build() { # FLAGS...
    rm -f program ./*.dwo ./*.dwp
    cc -O1 "$@" -I "$SRC/include" -o program "$source" "$library" -Wl,-rpath,"${library%/*}"
    # With a library that has sanitizers inside, theirs come first.
    ./program p.pb.gz 2>program.err || ASAN_OPTIONS=detect_leaks=0 \
        LD_PRELOAD="$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)" ./program p.pb.gz ||
        skip "the program does not run with this build of the library: $(cat program.err)"
}

build -gdwarf-5 && attack "DWARF 5" program
build -gdwarf-4 && attack "DWARF 4" program
if build -gdwarf-5 -gsplit-dwarf; then
    attack "a skeleton" program
    attack "a .dwo file" "$(echo ./*.dwo)"
fi
if command -v dwp >/dev/null && build -gdwarf-4 -gsplit-dwarf && timeout 60 dwp -e program -o program.dwp 2>messages; then
    rm -f ./*.dwo
    attack "a .dwp file" program.dwp
fi
if command -v xz >/dev/null && build; then
    objcopy --only-keep-debug program mini
    strip --strip-debug --remove-section=.comment mini
    xz -f mini && objcopy --add-section .gnu_debugdata=mini.xz program && strip program
    attack "mini-debuginfo" program
fi
echo ok
