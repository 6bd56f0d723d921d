#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_reports.sh: `cpprof tree`, peek, traces, tags and raw print what `go tool pprof` prints, byte for byte: on the
# profiles of a Go program, and, with every filter, unit and granularity, on made-up ones in comparison with the tool itself,
# for each Go that is installed and whose text cpprof knows (--style). Wrong options are refused.
# timeout: 600
# nightly: 1
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# ---- profiles of a Go program

for expected in "$go"/*.tree.expected "$go"/*.traces.expected "$go"/*.raw.expected "$go"/*.tags.expected; do
    name=${expected##*/} name=${name%.expected}
    expect "$expected" "${name##*.}" --style go1.19 "$go/${name%.*}.pb.gz"
done
for expected in "$go"/*.peek-main.expected; do
    name=${expected##*/}
    expect "$expected" peek --style go1.19 'main\.' "$go/${name%.peek-main.expected}.pb.gz"
done

# Without --style the text is that of the newest Go.
for report in top tree "peek main" traces raw tags; do
    # shellcheck disable=SC2086 # words
    "$cpprof" $report --style go1.26 "$go/cpu.pb.gz" >expected 2>err
    # shellcheck disable=SC2086
    expect expected $report "$go/cpu.pb.gz"
    case $report in
    raw) grep -qx 'Time: 2026-11-21 07:00:51.781651633 +0000 UTC' out || fail "the time of raw: $(head -5 out)" ;;
    tags) grep -qx ' phase: Total 830ms of 830ms (  100%)' out || fail "tags: $(head -5 out)" ;;
    *) grep -qx 'Time: 2026-11-21 07:00:51 UTC' out || fail "the time of $report: $(head -5 out)" ;;
    esac
done

# ---- made-up profiles

# Reports and options; one line each.
cat >requests <<'END'
top
tree
tree -cum -nodecount=10
peek=work|foo|main|a
traces
raw
tags
top -lines
tree -files
top -addresses -nodecount=50
peek=function -filefunctions
traces -filefunctions
top -hide=[a-g]
tree -show=f|lib
traces -show_from=f
raw -show_from=f -ignore=main
top -tagfocus=a
tags -tagignore=phase=a
tags -focus=f -sample_index=0
top -tagfocus=bytes=:512bytes
traces -tagfocus=512
raw -focus=f
tree -unit=ms
top -unit=minimum
tree -unit=minimum -sample_index=0
tags -unit=minimum
top -unit=MB -sample_index=0
traces -diff_base=base.pb
top -diff_base=base.pb
tags -diff_base=base.pb -unit=s
top -base=base.pb -normalize
raw -base=base.pb
END

# ask_go LINE, ask_cpprof LINE: print the report.
ask_go() {
    # shellcheck disable=SC2086 # words
    $pprof -$1 profile.pb 2>err
}

ask_cpprof() {
    report=${1%% *}
    options=${1#"$report"}
    case $report in
    peek=*) set -- peek "${report#peek=}" ;;
    *) set -- "$report" ;;
    esac
    # shellcheck disable=SC2086 # options are words
    "$cpprof" "$@" --style "$style" $options profile.pb 2>err
}

# compare: all requests on made-up profiles.
compare() {
    seed=${CPPROF_FIRST_SEED:-200}
    while [ "$seed" -le "${CPPROF_LAST_SEED:-203}" ]; do
        "$generate" "$seed" $((seed % 11)) distinct >profile.pb
        "$generate" $((seed + 1000000)) $((seed % 11)) distinct >base.pb
        while read -r line; do
            ask_go "$line" >theirs
            ask_cpprof "$line" >mine
            compared=$((compared + 1))
            cmp -s theirs mine || {
                fail "$style, seed $seed, $line: differs from go tool pprof"
                diff theirs mine | head -10 >&2
            }
        done <requests
        seed=$((seed + 1))
    done
}

# The same profiles as text. Later versions of Go show a label of 0 bytes, earlier ones leave it out.
compare_texts() {
    for kind in heap allocs block mutex goroutine example.conn; do
        for report in top tree raw traces tags; do
            $pprof -$report "$go/$kind.txt" >theirs 2>err
            "$cpprof" $report --style "$style" "$go/$kind.txt" >mine 2>err
            compared=$((compared + 1))
            cmp -s theirs mine || fail "$style, $report of $kind.txt: differs from go tool pprof"
        done
    done
}

compare_all() {
    compare
    compare_texts
}
with_each_go compare_all

# ---- profiles as text

"$cpprof" raw "$go/heap.txt" >out 2>err || fail "raw heap.txt: $(cat err)"
grep -qx "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes" out || fail "raw heap.txt: $(head -5 out)"
"$cpprof" top "$go/threadcreate.txt" >out 2>err || fail "threadcreate.txt: $(cat err)"
grep -q "of 4 total" out || fail "threadcreate.txt: $(cat out)"

# ---- a profile without labels

"$cpprof" tags "$go/threadcreate.pb.gz" >out 2>err || fail "tags: exit status $?"
[ ! -s out ] || fail "tags: labels of a profile that has none: $(cat out)"
grep -qx "cpprof: tags: no sample has a label" err || fail "tags: $(cat err)"

# ---- several profiles

"$cpprof" merge -o sum.pb.gz "$go/cpu.pb.gz" "$go/cpu.pb.gz"
"$cpprof" tree sum.pb.gz >expected
expect expected tree "$go/cpu.pb.gz" "$go/cpu.pb.gz"

# ---- JSON

if command -v python3 >/dev/null; then
    cat >check.py <<'END'
import json, sys
read = {name: json.load(open(name + ".json")) for name in ("top", "tree", "peek", "traces", "tags", "raw")}
for name, report in read.items():
    assert report["profile"]["type"] == "cpu" and report["profile"]["total"] == 830000000, name
assert read["top"]["rows"][0] == {"name": "main.hog1", "flat": 600000000, "cum": 600000000, "inline": False}
assert read["peek"]["nodes"][0]["callers"] == [{"name": "main.main.func1.1", "value": 230000000, "inline": False}]
assert len(read["tree"]["nodes"]) == len(read["top"]["rows"])
assert sum(sample["value"] for sample in read["traces"]["samples"]) == 830000000
assert read["tags"]["tags"][0] == {"key": "phase", "total": 830000000, "values": [{"value": "burn", "sum": 830000000}]}
assert read["raw"]["mappings"][0]["file"] == "/app/fixture"
assert {line["function"] for place in read["raw"]["locations"] for line in place["lines"]} >= {"main.hog1", "main.hog2"}
END
    for report in top tree "peek hog2" traces tags raw; do
        # shellcheck disable=SC2086 # words
        "$cpprof" $report --json "$go/cpu.pb.gz" >"${report%% *}.json" || fail "$report --json"
    done
    python3 check.py || fail "--json"
else
    echo "skipped --json: there is no python3"
fi

# ---- wrong options

refuse 2 "expected RE, found nothing" peek
refuse 2 "RE: regular expression: missing closing parenthesis" peek '(' "$go/cpu.pb.gz"
refuse 1 "expected a function that the expression matches, found none" peek no_such_name "$go/cpu.pb.gz"
refuse 2 "--granularity: expected functions, filefunctions, files, lines or addresses, found 'pages'" \
    tree --granularity pages "$go/cpu.pb.gz"
refuse 2 "--style: expected go1.26 or go1.19, found 'perl'" tags --style perl "$go/cpu.pb.gz"
refuse 2 "--normalize: expected --base or --diff-base, found neither" top --normalize "$go/cpu.pb.gz"
refuse 2 "expected --base or --diff-base, found both" top --base a --diff-base b "$go/cpu.pb.gz"
refuse 2 "--tagfocus: regular expression" tags --tagfocus '(' "$go/cpu.pb.gz"
"$cpprof" traces --tagfocus nothing "$go/cpu.pb.gz" 2>&1 >/dev/null | grep -q "warning: --tagfocus nothing matches no label" ||
    fail "--tagfocus without a match: no warning"
for verb in tree peek traces tags raw; do
    "$cpprof" help $verb | grep -q "^usage: cpprof $verb" || fail "help $verb"
done

finish_tests
