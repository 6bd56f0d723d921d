#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_architecture.sh: ARCHITECTURE.md, docs/LIVES.md, docs/DECISIONS.md and docs/GLOSSARY.md speak of files and
# functions that exist, ARCHITECTURE.md of every room of src/ and cmd/, in at most 1500 words; src/ itself holds only
# what wires the rooms.

set -eu
cd "$SRC"
failures=0
fail() {
    echo "FAIL: $1" >&2
    failures=$((failures + 1))
}

sources=$(find src dwarf remote http push cmd include -name '*.[chS]' -o -name '*.inc')
for document in ARCHITECTURE.md docs/LIVES.md docs/DECISIONS.md docs/GLOSSARY.md; do
    quoted=$(grep -v '^    ' "$document" | grep -o '`[^`]*`' | tr -d '`' | sort -u)
    for name in $(echo "$quoted" | grep -E '^pp_[a-z0-9_]+$'); do
        # shellcheck disable=SC2086 # a list of files
        grep -qw "$name" $sources || fail "$document: there is no $name in src/"
    done
    for file in $(echo "$quoted" | grep -E '^[a-z0-9_/]+\.[chS]$'); do
        echo "$sources" | grep -qE "(^|/)$file\$" || fail "$document: there is no $file"
    done
    for folder in $(echo "$quoted" | grep -E '^[a-z_/]+/$'); do
        [ -d "$folder" ] || [ -d "src/$folder" ] || [ -d "cmd/$folder" ] || fail "$document: there is no folder $folder"
    done
done

# Each room is in the picture, or in the table; each kind is, too.
for room in $(find src -mindepth 1 -maxdepth 1 -type d ! -name kinds | sed 's|.*/||'); do
    grep -qE "^ .*(^|[^a-z])$room([^a-z]|\$)" ARCHITECTURE.md || fail "ARCHITECTURE.md: the picture lacks src/$room"
done
for kind in $(find src/kinds -mindepth 1 -maxdepth 1 -type d | sed 's|.*/||'); do
    grep -qF "| \`src/kinds/$kind/\`" ARCHITECTURE.md || fail "ARCHITECTURE.md: the table lacks src/kinds/$kind"
done

# Each room of the command is in the table.
for room in $(find cmd -mindepth 1 -maxdepth 1 -type d | sed 's|.*/||'); do
    grep -qE "^\\| \`cmd/.*\`$room/\`" ARCHITECTURE.md || fail "ARCHITECTURE.md: the table lacks cmd/$room"
done

words=$(wc -w <ARCHITECTURE.md)
[ "$words" -le 1500 ] || fail "ARCHITECTURE.md has $words words; 1500 are enough for a stranger"
files=$(find src -maxdepth 1 -type f | wc -l)
[ "$files" -le 3 ] || fail "src/ has $files files; it holds what wires the rooms, in at most 3"

[ $failures -eq 0 ] || exit 1
echo "architecture: $words words, every name in it exists"
