#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_own_roots.sh: texts leave out with what libc begins a thread, but no function of the program
# (linked/own_roots.c) or of a library that has such a name.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc

cat >plugin.c <<'SOURCE'
#include <stdlib.h>
void *_start(void)
{
    void *volatile block = malloc(1002);
    return block;
}
SOURCE
cc -O1 -shared -fPIC -o plugin.so plugin.c
"$linked/own_roots" "$work" "$work/plugin.so" 2>errors || fail "own_roots: $(cat errors)"

# stack_of TEXT PATTERN: the names, each with its module's name, of the stack that has a row like this
stack_of() {
    awk -F '\t+' -v pattern="$2" '
        /^[0-9]/ || !NF { on = NF && $0 ~ pattern }
        on && /^#/ { sub(/[+]0x[0-9a-f]+$/, "", $3); sub(/.*\//, "", $4); sub(/[.]so.*/, "", $4); printf "%s %s, ", $3, $4 }' "$1"
}

expect_equal "the stack of clone()" "clone own_roots, start_thread own_roots, " "$(stack_of heap.txt '^1: 1001 ')"
expect_equal "the stack of _start()" "_start plugin, start_thread own_roots, " "$(stack_of heap.txt '^1: 1002 ')"
expect_equal "the stack of start_thread()" "start_thread own_roots, " "$(stack_of heap.txt '^1: 1003 ')"
expect_equal "start_thread() of the program" 1 "$(grep -c 'start_thread.*own_roots$' thread.txt)"
expect_equal "roots of libc" "" "$(grep -E 'start_thread.*libc|clone.*libc|_start[+]' thread.txt)"
echo ok
