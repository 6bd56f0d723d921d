#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_jit.sh: programs that generate code: luajit, node, PCRE2's compiler in grep -P. Such code has
# no call-frame information: a stack may end in it, and then the comments say so, but nowhere else.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go awk readelf

# generated_percent RAW: the share of samples whose outermost frame is code that no file holds, in a
# mapping without a name or, if it was unmapped meanwhile, in none.
generated_percent() {
    awk '
        /^Samples:/   { part = 1; next }
        /^Locations/  { part = 2; next }
        /^Mappings/   { part = 3; next }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { weights[++n] = $1; root[n] = $NF; total += $1 }
        part == 2 && /^ *[0-9]+: 0x/ { id = $1; sub(/:/, "", id); mapping[id] = $3 ~ /^M=/ ? substr($3, 3) : "none" }
        part == 3 && /^[0-9]+: / { id = $1; sub(/:/, "", id); if ($3 == "" || $3 ~ /^\[(anon|unknown)/) nameless[id] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                m = mapping[root[i]]
                if (m == "none" || m in nameless) sum += weights[i]
            }
            printf "%.2f\n", total ? 100 * sum / total : 0
        }' "$1"
}

# ends_well NAME LEAST: the stacks of the profile are whole, or end in generated code. Nine in ten have to:
# LuaJIT's interpreter is a single function to its CFI, though parts of it call each other.
ends_well() {
    raw "$1.pb.gz"
    well_raw=$work/$1.pb.gz.raw
    expect_at_least "weight of $1" "$2" "$(weight "$well_raw")"
    well_generated=$(generated_percent "$well_raw")
    expect_at_least "percent of $1's stacks that are whole or end in generated code, of these $well_generated, \
$(comments "$well_raw")" 90 "$(awk -v a="$(whole_percent "$well_raw")" -v b="$well_generated" \
        'BEGIN { print a + b }')"
    if awk -v share="$well_generated" 'BEGIN { exit !(share > 0) }'; then
        comments "$well_raw" | grep -Eq 'libpprof: [0-9]+ stacks? ends? in code that no file holds, the first at 0x' ||
            fail "the comments of $1 do not say where stacks end: $(comments "$well_raw")"
    fi
}

check_luajit() {
    cat >work.lua <<'LUA'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sum(n) local s = 0 for i = 1, n do s = s + math.sin(i) end return s end
print(fib(30), string.format("%.6f", sum(5000000)))
local t = {}
for i = 1, 200000 do t[i] = (i * 7919) % 200003 end
table.sort(t, function(a, b) return a < b end)
print(t[1], t[200000], #(string.rep("ab", 200000):gsub("a", "xy")))
os.exit(3)
LUA
    same_run luajit luajit work.lua
    expect_equal "status of luajit" 3 "$same_found"
    ends_well luajit 50
    same_run interpreter luajit -joff work.lua
    ends_well interpreter 100
    expect_at_least "percent of whole stacks without the compiler" 90 \
        "$(whole_percent interpreter.pb.gz.raw)"
}

check_grep() {
    # Each line is tried in 2^18 ways.
    awk 'BEGIN { for (i = 0; i < 300; i++) print "aaaaaaaaaaaaaaaaaa" i }' >lines
    same_run grep grep -cP '^(a+)+$' lines
    ends_well grep 50
}

check_node() {
    cat >work.js <<'JS'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
const list = []
for (let i = 0, s = 1; i < 200000; i++) list.push(s = (s * 1103515245 + 12345) % 2147483648)
list.sort((a, b) => a - b)
console.log(fib(32), list[1000], JSON.parse(JSON.stringify(list)).length)
let text = ''
for (let i = 0; i < 50000; i++) text += i
console.log(text.match(/(\d)\1\1/g).length)
process.exitCode = 7
JS
    same_run node node work.js
    expect_equal "status of node" 7 "$same_found"
    ends_well node 50
}

ran=
if command -v luajit >/dev/null && luajit -jon -e '' 2>/dev/null; then
    check_luajit
    ran="$ran luajit"
fi
if echo ab | grep -qP 'a(?=b)' 2>/dev/null; then
    check_grep
    ran="$ran grep"
fi
if command -v node >/dev/null; then
    check_node
    ran="$ran node"
fi
[ -n "$ran" ] || skip "none of these programs is here"
echo "ok:$ran"
