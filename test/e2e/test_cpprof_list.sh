#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_list.sh: `cpprof list` prints what `go tool pprof -list` prints, byte for byte, for each Go that is installed; it finds
# source files in and above the folder that it runs in.
# timeout: 600
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# Made-up profiles have lines 0 to 49 of src/file.c, which has 40 lines.
mkdir -p src below
awk 'BEGIN { for (i = 1; i <= 40; i++) printf "\tstatement %d;\n", i }' >src/file.c

found=
for tool in "$(command -v go)" /usr/lib/go-*/bin/go; do
    [ -x "$tool" ] || continue
    pprof=$("$tool" tool -n pprof 2>/dev/null)
    [ -x "$pprof" ] || pprof="$tool tool pprof"
    found=yes
    for seed in 300 302 304 305; do
        "$generate" $seed $((seed % 11)) distinct >profile.pb
        for expression in 'function_1' '^(main|work|std)' '.'; do
            $pprof -list="$expression" profile.pb >theirs 2>err
            "$cpprof" list "$expression" profile.pb >mine 2>err
            cmp -s theirs mine || {
                fail "seed $seed, $expression: differs from $("$tool" version)"
                diff theirs mine | head -10 >&2
            }
        done
    done
done
[ -n "$found" ] || echo "skipped the comparison with go tool pprof: Go is not installed"

# ---- finding files

"$generate" 302 5 distinct >profile.pb
"$cpprof" list . profile.pb >expected
grep -q "statement 7;" expected || fail "no lines: $(head -5 expected)"
(cd below && "$cpprof" list . ../profile.pb) | cmp -s - expected || fail "a file in a folder above is not found"
(cd / && "$cpprof" list --source-path "$work" . "$work/profile.pb") | cmp -s - expected || fail "--source-path"
(cd / && "$cpprof" list . "$work/profile.pb") | grep -qF " Error: could not find file src/file.c on path /" ||
    fail "a file that is missing is not named"

# Paths that begin with a folder of the machine on which the program was compiled.
mkdir -p elsewhere && sed 's/^/moved /' src/file.c >elsewhere/file.c
for tool in "$(command -v go)" /usr/lib/go-*/bin/go; do
    [ -x "$tool" ] || continue
    for options in "--trim_path=/none:src --source_path=$work/elsewhere" "--source_path=$work/elsewhere"; do
        # shellcheck disable=SC2086 # several options
        "$tool" tool pprof $options -list . profile.pb >theirs 2>err
        # shellcheck disable=SC2086
        "$cpprof" list $options . profile.pb 2>err | diff theirs - >differences || fail "$options: $("$tool" version): $(head -5 differences)"
    done
done

# ---- why a text has no lines

# hints HINT FILE: one complaint, and no other output than for a profile without lines.
hints() {
    "$cpprof" list work "$2" >out 2>err
    grep -qx "cpprof: no lines: .*$1.*" err || fail "list of $2: expected '$1', found $(cat err)"
}
printf 'main;work 5\n' >names.folded
hints "names and no addresses, as folded stacks do; take the profile that they were made from" names.folded
cat >names.perf <<END
tool 1 cpu-clock:
                1004 work+0x4 ($work/tool)

END
hints "-F +srcline. prints lines" names.perf
hints "no memory map that says in which files they are" "$go/heap.txt"
printf 'main;work (app.py:3) 5\n' >lines.folded
run 0 list work lines.folded
[ ! -s err ] || fail "a text with lines: $(cat err)"
run 0 top names.folded
[ ! -s err ] || fail "top of a text: $(cat err)"

# ---- a file that was edited since

# warns COMMAND...: it says that src/file.c is newer than WHAT, once, and prints what it printed before.
warns() {
    what=$1
    shift
    run 0 "$@"
    [ "$(grep -c "src/file.c is newer than the $what: lines may have moved; build and record again" err)" = 1 ] ||
        fail "$*: expected one warning about the $what, found $(cat err)"
}
mkdir program && cp /bin/true program/tool
cat >edited.txt <<END
tool 1 cpu-clock:
                1004 work+0x4 ($work/program/tool)
  file.c:3
                1010 rest+0x4 ($work/program/tool)
  file.c:5

END
sed -i 's|file.c|src/file.c|' edited.txt
touch -d 2024-01-01 program/tool
touch -d 2023-01-01 src/file.c
run 0 list . edited.txt
! grep -q newer err || fail "a file that is older than the program: $(cat err)"
cp out before
touch -d 2025-01-01 src/file.c
warns "program that was built from it" list . edited.txt
cmp -s out before || fail "list: the warning is in the listing: $(diff before out)"
warns "program that was built from it" list --json . edited.txt
for verb in top traces tree; do
    warns "program that was built from it" $verb --lines edited.txt
done
run 0 top edited.txt
[ ! -s err ] || fail "top, which shows no line: $(cat err)"
# Where the program is not here, or was built again, the profile has a time, too.
touch -d 2100-01-01 src/file.c
warns profile list . profile.pb
touch -d 2000-01-01 src/file.c
run 0 list . profile.pb
! grep -q newer err || fail "a file that is older than the profile: $(cat err)"

# ---- options

refuse 1 "expected a function that the expression matches, found none" list no_such_name profile.pb
if command -v python3 >/dev/null; then
    "$cpprof" list --json . profile.pb | python3 -c '
import json, sys
functions = json.load(sys.stdin)["functions"]
assert any(line["cum"] and "statement" in line["text"] for function in functions for line in function["lines"])
' || fail "--json"
fi

finish_tests
