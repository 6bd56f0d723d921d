#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/bootstrap asks apt for packages that the distribution has: where a package has two names, for the name that the
# package lists describe, not for one that they only mention, and for none where it may have none. Nothing is installed: apt, dpkg and sudo are played here.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# player NAME: a program of that name, whose script comes on standard input.
player() {
    { echo '#!/bin/sh' && cat; } >"$work/$1"
    chmod +x "$work/$1"
}

player dpkg-query <<'SH'
exit 1
SH
player id <<'SH'
echo 1000
SH
player sudo <<SH
echo "\$*" >>"$work/as-root"
SH
player apt-get <<'SH'
exit 1
SH
player apt-cache <<'SH'
case $1:$2 in
show:libmimalloc2.0) exit 0 ;;
show:nginx-light | show:libpth-dev) exit 100 ;;
show:*) echo "Package: $2" ;;
esac
SH

# The packages are still not there afterwards, and bootstrap says so.
status=0
PATH="$work:$PATH" "$SRC/tools/bootstrap" test >"$work/out" 2>&1 || status=$?
grep -q 'still not installed' "$work/out" || { echo "FAIL: status $status: $(cat "$work/out")"; exit 1; }

asked=$(grep 'apt-get.* install ' "$work/as-root")
for name in libmimalloc3 nginx pkgconf libcmocka-dev; do
    echo "$asked" | grep -q " $name\( \|$\)" || { echo "FAIL: $name is not asked for: $asked"; exit 1; }
done
for name in libmimalloc2.0 nginx-light pkg-config libpth-dev none; do
    ! echo "$asked" | grep -qF " $name " || { echo "FAIL: $name is asked for: $asked"; exit 1; }
done

# A package of two architectures is there; one of another architecture alone is not.
player dpkg-query <<'SH'
echo 'riscv64 installed'
echo "$(dpkg --print-architecture) installed"
SH
PATH="$work:$PATH" "$SRC/tools/bootstrap" test >"$work/out" 2>&1 || { echo "FAIL: two architectures: $(cat "$work/out")"; exit 1; }
player dpkg-query <<'SH'
echo 'riscv64 installed'
SH
status=0
PATH="$work:$PATH" "$SRC/tools/bootstrap" test >"$work/out" 2>&1 || status=$?
grep -q 'still not installed' "$work/out" || { echo "FAIL: another architecture: status $status: $(cat "$work/out")"; exit 1; }

# ---- Alpine, where there is apk and no apt ----

mkdir "$work/alpine"
for tool in sh cat dirname env grep head rm sed tr; do
    ln -s "$(command -v $tool)" "$work/alpine/$tool"
done
cp "$work/id" "$work/sudo" "$work/alpine/"
player alpine/apk <<'SH'
case "$*" in
"info -e cmake") exit 0 ;;
"search -q -e protobuf-c-compiler") exit 0 ;;
"search -q -e "*) echo "$4" ;;
*) exit 1 ;;
esac
SH
rm "$work/as-root"
status=0
PATH="$work/alpine" "$SRC/tools/bootstrap" build >"$work/out" 2>&1 || status=$?
grep -q 'still not installed' "$work/out" || { echo "FAIL: Alpine: status $status: $(cat "$work/out")"; exit 1; }
asked=$(grep 'apk .*add ' "$work/as-root")
for name in build-base zlib-dev linux-headers; do
    echo "$asked" | grep -q " $name\( \|$\)" || { echo "FAIL: $name is not asked for on Alpine: $asked"; exit 1; }
done
for name in cmake protobuf-c-compiler none zlib1g-dev; do
    ! echo "$asked " | grep -qF " $name " || { echo "FAIL: $name is asked for on Alpine: $asked"; exit 1; }
done
player alpine/apk <<'SH'
[ "$1 $2" = "info -e" ]
SH
PATH="$work/alpine" "$SRC/tools/bootstrap" build test >"$work/out" 2>&1 ||
    { echo "FAIL: Alpine with all packages: $(cat "$work/out")"; exit 1; }
