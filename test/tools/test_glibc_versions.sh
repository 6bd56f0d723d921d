#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc
#
# test_glibc_versions.sh: the libraries that are built here load with glibc 2.26. They need no version of a function that is
# newer, and what has no version may be absent.
set -eu
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }
newest=2.26

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# The versions that the loader looks for before it loads a library, each with the library's name.
needed() {
    readelf -VW "$1" | sed -n 's/.* Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -uV
}

libraries=$(find "$BUILD/lib" -maxdepth 1 -name 'libpprof*.so*' -type f)
[ -n "$libraries" ] || fail "there are no libraries in $BUILD/lib"
for library in $libraries; do
    needed "$library" >"${versions=$(mktemp)}"
    [ -s "$versions" ] || fail "$library needs no version of glibc at all"
    last=$(tail -n 1 "$versions")
    [ "$(printf '%s\n' $newest "$last" | sort -V | tail -n 1)" = $newest ] ||
        fail "$library needs glibc $last, not only $newest: name the function in cmake/old_glibc.cmake, or do without it"
done
rm -f "$versions"
