#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_landings.sh: assembled with -fcf-protection, every entry begins with endbr64, and so does all that a hook's pointers
# lead to; the objects say that they may run with it (a program loses the protection by one that does not). Without, no
# instruction is spent on it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc objdump readelf
[ "$(uname -m)" = x86_64 ] || skip "the entries of this architecture have no such instruction"

assemble() { # FILE FLAG...
    file=$1
    shift
    cc "$@" -I "$SRC/src" -c -o entries.o "$file" 2>errors || skip "cc takes no $*: $(head -n 1 errors)"
}

for file in "$SRC"/src/arch/x86_64_*.S "$SRC"/src/kinds/*/*_x86_64*.S; do
    name=$(basename "$file")
    assemble "$file" -fcf-protection=none
    ! objdump -d entries.o | grep -q endbr64 || fail "$name has endbr64 without being asked for it"

    assemble "$file" -fcf-protection=full
    readelf -n entries.o >notes
    expect_contains "properties of $name" notes "IBT, SHSTK"
    # Functions that are only jumped to or called by name need none.
    readelf -sW entries.o | awk '$1 ~ /^[0-9]+:$/ && $5 != "LOCAL" && $7 != "UND" && $8 !~ /^(\$|pp_[a-z]*_to_)/ {
        sub(/@.*/, "", $8); print $2, $8 }' | sort >wanted
    objdump -d entries.o | awk '/endbr64/ { sub(/:.*/, ""); gsub(/ /, ""); print }' | awk '
        { printf "%16s\n", $1 }' | tr ' ' 0 | sort -u >landings
    [ -s wanted ] || fail "$name defines nothing"
    missing=$(awk 'NR == FNR { landing[$1]; next } !($1 in landing) { print $2 }' landings wanted)
    expect_equal "entries of $name without endbr64" "" "$missing"
done
echo ok
