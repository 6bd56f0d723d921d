#!/bin/sh
# SPDX-License-Identifier: MIT
#
# nptl.sh: glibc's own tests of threads, from the distribution's source package: those that can be built outside
# of glibc's tree (tests of its internals cannot).
: "${here:?run by test/distribution/run}"
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/glibc_support.sh
. "$here/glibc_support.sh"
: "${source:?from glibc_support.sh}" "${built:?from glibc_support.sh}"

# Tests include each other, from one folder of glibc's to another.
ln -sf "$source"/nptl/tst-*.[ch] "$source"/sysdeps/pthread/tst-*.[ch] "$source/sysdeps/pthread/eintr.c" \
    "$source"/sysdeps/unix/sysv/linux/tst-skeleton*.c "$built/headers/"

flags_of() {
    case $1 in
    *x[0-9] | *x[0-9][0-9] | tst-cond-except | tst-unwind-thread) echo "-fexceptions -fasynchronous-unwind-tables" ;;
    tst-atfork[0-9] | tst-create1) echo -rdynamic ;;
    tst-fini1) echo "-Wl,--no-as-needed -L$built/tests -l:tst-fini1mod.so" ;;
    esac
}

for file in "$source"/nptl/tst-*mod*.c "$source"/sysdeps/pthread/tst-*mod*.c; do
    name=$(basename "$file" .c)
    [ -e "$built/tests/$name.so" ] || try "tests/$name" compile -fPIC -shared "$file" -o "$built/tests/$name.so"
done
for file in "$source"/nptl/tst-*.c "$source"/sysdeps/pthread/tst-*.c; do
    name=$(basename "$file" .c)
    case $name in
    *mod* | *-static | *-time64 | *aux | *-common) continue ;;
    esac
    # shellcheck disable=SC2046 # several words
    [ -e "$built/tests/$name" ] || try "tests/$name" compile "$file" $(flags_of "$name") -o "$built/tests/$name" \
        "$built/libsupport.a" -lm
done

export LD_LIBRARY_PATH="$built/tests"
find "$built/tests" -type f -perm -u+x ! -name '*.so' | sort >"$WORK/list"
echo "$(wc -l <"$WORK/list") of $(find "$source/nptl" "$source/sysdeps/pthread" -name 'tst-*.c' ! -name '*mod*' |
    wc -l) tests can be built"
[ -s "$WORK/list" ]
both_ways "$WORK/list"
