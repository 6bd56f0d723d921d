#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_idle.sh: preloaded and not asked for anything, the library makes the same system calls in a program
# of many libraries as in one of a few. (What it costs is measured by bench/startup.)
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc strace

many=80

# program NAME COUNT: a program that is linked to so many libraries.
program() {
    links=
    i=0
    echo 'int main(void) { return 0; }' >"$1.c"
    while [ $i -lt "$2" ]; do
        if [ ! -e libidle$i.so ]; then
            echo "int idle_$i(int x) { return x + $i; }" >library.c
            cc -shared -fPIC -o libidle$i.so library.c
        fi
        links="$links -lidle$i"
        i=$((i + 1))
    done
    # shellcheck disable=SC2086 # a list of options
    cc -o "$1" "$1.c" -L. -Wl,--no-as-needed $links -Wl,-rpath,"$work"
}
program few 2
program many $many

# calls PROGRAM [PRELOAD]: the names of the system calls, without those by which the loader gets memory for
# itself, which may be due a library earlier or later.
calls() {
    strace -o trace env ${2+LD_PRELOAD="$2"} "./$1"
    sed 's/(.*//' trace | grep -v '^brk$\|^mmap$\|^munmap$'
}

# added PROGRAM: how many calls of each kind the preload adds, beside its own loading.
added() {
    calls "$1" | sort | uniq -c >plain.calls
    calls "$1" "$library" | sort | uniq -c >idle.calls
    awk 'FNR == NR { plain[$2] = $1; next } { added = $1 - plain[$2]; if (added) print $2, added }' \
        plain.calls idle.calls
}
added few >few.added
added many >many.added
diff few.added many.added >&2 || fail "more libraries, other system calls"
expect_contains "calls that the preload adds" many.added open
echo ok
