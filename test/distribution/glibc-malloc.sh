#!/bin/sh
# SPDX-License-Identifier: MIT
#
# glibc-malloc.sh: glibc's own tests of malloc, from the distribution's source package, with every block
# sampled. Left out is what tests glibc's internals and cannot be built outside of its tree.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-heap:1,file=/dev/null}
# One test allocates 13 million blocks: 20 s of CPU time where each is a sample.
LIMIT=${LIMIT:-600}
export TIMEOUTFACTOR="${TIMEOUTFACTOR:-15}"
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/glibc_support.sh
. "$here/glibc_support.sh"
: "${source:?from glibc_support.sh}" "${built:?from glibc_support.sh}"

# Programs that bring a malloc of their own: it stands before ours.
with_of() {
    case $1 in
    tst-interpose-nothread | tst-interpose-thread)
        echo "$source/malloc/tst-interpose-aux-${1#tst-interpose-}.c"
        ;;
    esac
}

flags_of() {
    case $1 in
    tst-malloc-backtrace | tst-malloc-check | tst-mtrace) echo "-rdynamic" ;;
    tst-free-errno | tst-malloc-too-large | tst-realloc | tst-calloc) echo "-fno-builtin" ;;
    esac
}

for file in "$source"/malloc/mallocbug.c "$source"/malloc/tst-*.c; do
    name=$(basename "$file" .c)
    case $name in
    *-static-* | *-aux-* | *-aux | *-skeleton | tst-compathooks-*) continue ;;
    esac
    # shellcheck disable=SC2046 # several words
    [ -e "$built/tests/$name" ] || try "tests/$name" compile -fno-builtin-malloc "$file" $(with_of "$name") \
        $(flags_of "$name") -I"$source/malloc" -o "$built/tests/$name" "$built/libsupport.a" -lm
done

find "$built/tests" -type f -perm -u+x | sort >"$WORK/list"
echo "$(wc -l <"$WORK/list") of $(find "$source/malloc" -name 'tst-*.c' ! -name '*-aux*' ! -name '*-static-*' |
    wc -l) tests can be built"
[ -s "$WORK/list" ]
both_ways "$WORK/list"
