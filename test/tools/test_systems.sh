#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_systems.sh: README's table of systems is made of docs/systems.txt, and tools/systems takes new results into both.
set -eu
"$SRC/tools/systems" --check

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/docs" "$tree/tools"
cp "$SRC/tools/systems" "$tree/tools/"
cp "$SRC/README.md" "$tree/"
cp "$SRC/docs/systems.txt" "$tree/docs/"
cat >"$tree/log" <<'LOG'
12 passed
system: z80, libc of toys | ./test.sh | 1 passed, 0 failed
system: z80, libc of toys | ./test.sh | 2 passed, 1 failed
LOG
! "$tree/tools/systems" "$tree/README.md" 2>/dev/null || { echo "FAIL: a log without results was taken" >&2; exit 1; }
"$tree/tools/systems" "$tree/log"
[ "$(grep -c z80 "$tree/README.md")" = 1 ] || { echo "FAIL: README has not one row for z80" >&2; exit 1; }
grep -qx '| z80, libc of toys | `./test.sh` | 2 passed, 1 failed |' "$tree/README.md" ||
    { echo "FAIL: README has not the last result" >&2; exit 1; }
"$tree/tools/systems" --check
printf 'system: 6502 | ./test.sh | 0 passed, 1 failed\n' >>"$tree/docs/systems.txt"
! "$tree/tools/systems" --check >/dev/null 2>&1 || { echo "FAIL: the check passes with another table" >&2; exit 1; }
echo ok
