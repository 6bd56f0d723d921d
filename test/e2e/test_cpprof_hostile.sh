#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_hostile.sh: profiles whose writer means harm, through every verb, in 512 MiB of memory: each is refused with the
# byte where it is broken, or shown. Names keep to their places in every format.
# timeout: 600
# nightly: 3
# shellcheck disable=SC3045 # every sh of Linux has ulimit -v
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"
hostile=$BUILD/test/cpprof/hostile

# within STATUS WORDS...: cpprof ends with that status, with an address space of 512 MiB.
within() {
    expected=$1
    shift
    (ulimit -v 524288 && exec "$cpprof" "$@") >out 2>err
    got=$?
    [ $got = "$expected" ] || fail "$*: expected exit status $expected, found $got: $(head -c 300 err)"
}

# every STATUS FILE: all verbs.
every() {
    for verb in top tree "peek leaf" tags raw traces "list leaf" "merge -o out.pb.gz" "flame -o out.html" "flame -o out.svg" \
        "convert -o out.pb.gz" "convert -o out.folded" "convert -o out.speedscope.json" "convert -o out.svg" "convert -o out.dot" \
        "convert -o out.html" "convert -o out.txt"; do
        # shellcheck disable=SC2086 # words
        case $1-$verb in
        0-peek*) (ulimit -v 524288 && exec "$cpprof" $verb "$2") >out 2>err || [ $? = 1 ] || fail "$verb $2: $(head -c 300 err)" ;;
        0-list*) (ulimit -v 524288 && exec "$cpprof" $verb "$2") >out 2>err || [ $? = 1 ] || fail "$verb $2: $(head -c 300 err)" ;;
        *) within "$1" $verb "$2" ;;
        esac
        [ "$1" = 0 ] || grep -q "^cpprof: $2: byte [0-9]*: .*expected .*, found " err || fail "$verb $2: no byte in $(cat err)"
    done
    within "$1" diff "$2" "$2"
}

# ---- broken ones are refused

for name in string_index duplicate_id unknown_id; do
    "$hostile" $name >$name.pb
    every 1 $name.pb
done

# 4 GiB of zeros in 4 MiB.
head -c 16777216 /dev/zero | gzip >member
i=0
while [ $i -lt 256 ]; do
    cat member
    i=$((i + 1))
done >bomb.pb.gz
every 1 bomb.pb.gz
grep -q 'more than 100 times as large' err || fail "bomb: $(cat err)"

# ---- odd ones are shown

for name in own_id values names; do
    "$hostile" $name >$name.pb
    every 0 $name.pb
done
for deep in deep deep_folded deep_perf deep_jemalloc deep_text; do
    "$hostile" $deep >$deep
    within 0 top $deep
    grep -q 'total' out || fail "top $deep: $(cat out)"
done
every 0 deep
gzip -1 <deep >deep.gz
within 0 top deep.gz
within 0 convert -o back.pb.gz deep_folded
within 0 convert --to folded -o back back.pb.gz
cmp -s back deep_folded || fail "a deep stack is another one after a conversion"

# ---- names keep to their places

"$cpprof" convert -o names.svg names.pb 2>err
grep -qE '<(script|img|b)' names.svg && fail "names.svg has elements of names"
"$cpprof" convert -o names.folded --demangle none names.pb
[ "$(grep -cE '^[^;]*(;[^;]*)? [0-9]+$' names.folded)" = "$(wc -l <names.folded)" ] || fail "names.folded: $(cat names.folded)"
LC_ALL=C grep -q "$(printf '[\001\033\377]')" names.folded && fail "names.folded has control characters"
if command -v python3 >/dev/null; then
    "$cpprof" convert -o names.speedscope.json names.pb
    python3 - <<'END' || fail "a name breaks its format"
import json, xml.dom.minidom
json.load(open("names.speedscope.json", encoding="utf-8"))
xml.dom.minidom.parse("names.svg")
open("names.folded", encoding="utf-8").read()
END
fi

# ---- no terminal obeys a name, and no line ends in one

"$hostile" controls >controls.pb
cat >escaped.py <<'END'
import re, sys
text = b"".join(open(name, "rb").read() for name in sys.argv[1:]).decode("utf-8", "surrogateescape")
bad = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udc9f]", text)
if bad:
    sys.exit(f"{len(bad)} control characters, the first one {ascii(bad[0])}")
if re.search(r"^ *9 forged", text, re.M):
    sys.exit("a name has made a line")
END

# obeyed STATUS WORDS...: neither the output of cpprof nor its complaints have control characters.
obeyed() {
    run "$@"
    python3 escaped.py out err >why 2>&1 || fail "$*: $(cat why)"
}

# escaped WORDS...: the same, and the names are there.
escaped() {
    obeyed 0 "$@"
    grep -q forged out || fail "$*: the names are missing: $(head -c 300 out)"
}

if command -v python3 >/dev/null; then
    for style in go1.19 go1.26; do
        for granularity in functions filefunctions files lines addresses; do
            for verb in top tree "peek ." traces tags raw "top --json" "traces --json" "tags --json"; do
                # shellcheck disable=SC2086 # words
                escaped $verb --granularity $granularity --style $style controls.pb
            done
            for format in folded dot txt svg speedscope.json; do
                escaped convert -o - --to $format --granularity $granularity --style $style controls.pb
            done
        done
        escaped list . --style $style controls.pb
        escaped list --json . --style $style controls.pb
    done
    escaped diff controls.pb controls.pb
    obeyed 1 list --asm . controls.pb
    "$cpprof" top --color=always controls.pb | sed "s/$(printf '\033')\[[0-9;]*m//g" >plain
    python3 escaped.py plain >why 2>&1 || fail "colours: $(cat why)"

    # Complaints quote the profile, its name, and the lines of one that is broken.
    name=$(printf 'a\033[2Jb\n 9 forged')
    cp controls.pb "$name.pb"
    obeyed 2 top --sample x "$name.pb"
    obeyed 1 peek nothing "$name.pb"
    obeyed 1 list nothing "$name.pb"
    obeyed 1 raw "$name"
    obeyed 2 top --focus "$name" controls.pb
    printf 'main;\033[2J\001 x\n' >broken.folded
    printf 'thread profile: total 1\n1 @ zz\033[2J\n' >broken.count
    obeyed 1 top broken.folded
    obeyed 1 top broken.count
fi

finish_tests
