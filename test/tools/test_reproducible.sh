#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
# timeout: 1200
#
# test_reproducible.sh: the source archive of a commit, and the Debian packages that are built with SOURCE_DATE_EPOCH, are the same
# byte for byte wherever and whenever they are made.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need git cmake cpack dpkg-deb file cmp

git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 || skip "not a clone"
git clone -q "$SRC" first
git clone -q "$SRC" elsewhere/with/a/longer/name

# ---- the archive ----

(cd first && tools/dist "$work/one" && umask 077 && sleep 1.1 && TZ=Asia/Tokyo "$work/elsewhere/with/a/longer/name/tools/dist" "$work/two") >dist.out ||
    fail "tools/dist"
archive=$(cd one && ls)
cmp "one/$archive" "two/$archive" || fail "two archives of one commit differ"
[ "$(tar -tzf "one/$archive" | grep -c '/src/')" -gt 100 ] || fail "the archive has no sources"

# ---- packages ----

SOURCE_DATE_EPOCH=$(git -C first log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# packages FOLDER BUILD TO: builds there and makes packages.
packages() {
    {
        cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPPROF_TESTS=OFF -DPPROF_EXAMPLES=OFF &&
            cmake --build "$2" -j "$(nproc)" && cpack --config "$2/CPackConfig.cmake" -B "$3"
    } >packages.out 2>&1 || fail "packages of $1: $(tail -n 20 packages.out)"
}
packages first first/build/release "$work/packages/one"
packages elsewhere/with/a/longer/name "$work/other-build" "$work/packages/two"
count=0
for package in packages/one/*.deb; do
    name=$(basename "$package")
    cmp "$package" "packages/two/$name" || {
        mkdir -p 1 2
        dpkg-deb -R "$package" 1
        dpkg-deb -R "packages/two/$name" 2
        fail "$name is another one: $(diff -rq 1 2)"
    }
    count=$((count + 1))
done
expect_equal "packages" 3 "$count"
echo ok
