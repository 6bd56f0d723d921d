#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_convert.sh: `cpprof convert` writes profiles in other formats, whole or not at all, and what it reads back is the
# same profile.
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# converts WORDS...: cpprof convert succeeds and says nothing.
converts() {
    "$cpprof" convert "$@" 2>err || fail "convert $*: exit status $?, $(cat err)"
    [ ! -s err ] || fail "convert $*: $(cat err)"
}

# same A B WHAT: two files are equal.
same() {
    cmp -s "$1" "$2" || {
        fail "$3: differs"
        diff "$1" "$2" | head -10 >&2
    }
}

# ---- profile.proto

for profile in "$go"/*.pb.gz; do
    converts -o copy.pb.gz "$profile"
    converts -o copy.pb copy.pb.gz
    for copy in copy.pb.gz copy.pb; do
        # A copy has equal samples added up; this style does that to the original, too.
        "$cpprof" raw --style go1.19 "$profile" >expected
        "$cpprof" raw --style go1.19 $copy >found
        same expected found "raw of $copy of ${profile##*/}"
    done
done
converts -o focused.pb.gz --focus hog1 "$go/cpu.pb.gz"
"$cpprof" top focused.pb.gz >out
grep -q 'of 600ms total' out || fail "--focus: $(cat out)"
grep -q hog2 out && fail "--focus: hog2 is still there"
converts -o objects.pb.gz --sample inuse_objects "$go/heap.pb.gz"
"$cpprof" top objects.pb.gz | grep -qx 'Type: inuse_objects' || fail "--sample is not the default of the new profile"

# ---- folded stacks

cat >expected <<'END'
main.main.func1;runtime/pprof.Do;main.main.func1.1;main.hog1 600000000
main.main.func1;runtime/pprof.Do;main.main.func1.1;main.hog2 230000000
END
converts -o cpu.folded "$go/cpu.pb.gz"
same expected cpu.folded "folded stacks"
converts -o again.pb.gz cpu.folded
converts --to folded -o - again.pb.gz >again.folded
same expected again.folded "folded stacks of folded stacks"
rows() {
    awk '/ flat%/ { rows = 1 } rows { gsub(/ns/, ""); $1 = $1; print }'
}
"$cpprof" top "$go/cpu.pb.gz" --unit ns | rows >expected
"$cpprof" top cpu.folded | rows >found
same expected found "top of folded stacks"
converts -o counts.folded --sample samples "$go/cpu.pb.gz"
grep -q ' 60$' counts.folded || fail "--sample samples: $(cat counts.folded)"
"$cpprof" convert -o - --to folded --base "$go/cpu.pb.gz" cpu.folded >out 2>err
grep -q "expected" err || fail "profiles of different types: $(cat err)"
printf 'a;b 5\nc 1\n' >one.folded
printf 'a;b 3\nc 2\n' >two.folded
"$cpprof" convert -o - --to folded --base two.folded one.folded >out 2>err
echo 'a;b 2' >expected
same expected out "the difference of folded stacks"
grep -q 'warning: 1 stack with a value below 0 is left out' err || fail "no warning of a negative value: $(cat err)"
printf 'a;b 5\nc\n' >bad.folded
refuse 1 "bad.folded: byte 6: line 2: expected FRAME;FRAME;... COUNT, found 'c'" top bad.folded

cat >named.folded <<'END'
<module>;std::vector<int>::push_back(int const&);a.b (x);_ZN4Shop4sellEv 7
END
sed 's/_ZN4Shop4sellEv/Shop::sell/' named.folded >expected
converts --to folded -o found named.folded
same expected found "names of folded stacks"

# ---- perf script

perf=$SRC/test/fuzz/corpus/perf_script
cat >expected <<'END'
_start;__libc_start_main_impl;__libc_start_call_main;main;outer;mid;inner 500000
END
converts -o perf.folded --focus inner "$perf/sources"
same expected perf.folded "folded stacks of perf script"
"$cpprof" tags "$perf/sources" >out || fail "tags of perf script"
grep -q 'comm: Total' out || fail "perf script has no label comm: $(cat out)"

# ---- speedscope

if command -v python3 >/dev/null; then
    converts -o heap.speedscope.json "$go/heap.pb.gz"
    converts -o one.speedscope.json --sample alloc_space "$go/heap.pb.gz"
    "$cpprof" traces --json --sample alloc_space "$go/heap.pb.gz" >traces.json
    python3 - <<'END' || fail "speedscope.json"
import json
heap, one, traces = (json.load(open(name)) for name in ("heap.speedscope.json", "one.speedscope.json", "traces.json"))
assert heap["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert [profile["name"] for profile in heap["profiles"]] == ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]
assert [profile["unit"] for profile in heap["profiles"]] == ["none", "bytes", "none", "bytes"]
assert heap["profiles"][heap["activeProfileIndex"]]["name"] == "inuse_space"
assert one["profiles"] == [heap["profiles"][1]] and one["activeProfileIndex"] == 0
frames = heap["shared"]["frames"]
assert all(frame["name"] for frame in frames) and any(frame.get("file") for frame in frames)
for profile in heap["profiles"]:
    assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"])
    assert sum(profile["weights"]) == profile["endValue"] and min(profile["weights"]) > 0
stacks = {}
for stack, weight in zip(one["profiles"][0]["samples"], one["profiles"][0]["weights"]):
    names = tuple(frames[index]["name"] for index in stack)
    stacks[names] = stacks.get(names, 0) + weight
expected = {}
for sample in traces["samples"]:
    names = tuple(frame["name"] for frame in reversed(sample["stack"]))
    expected[names] = expected.get(names, 0) + sample["value"]
assert stacks == {names: value for names, value in expected.items() if value}, (stacks, expected)
END
else
    echo "skipped speedscope.json: there is no python3"
fi

# ---- the page

converts -o cpu.html "$go/cpu.pb.gz"
grep -q 'id="profile"' cpu.html || fail "the page has no profile"
sed -n 's/.*id="profile" data-name="profile.pb.gz">\(.*\)<\/script>/\1/p' cpu.html | base64 -d >inside.pb.gz
"$cpprof" top inside.pb.gz >found
"$cpprof" top "$go/cpu.pb.gz" >expected
same expected found "the profile in the page"

# ---- text

"$cpprof" top "$go/cpu.pb.gz" >expected
converts -o cpu.txt "$go/cpu.pb.gz"
same expected cpu.txt "txt"

# ---- files

echo before >kept.pb.gz
refuse 1 "none: cannot open" convert -o kept.pb.gz none
refuse 1 "bad.folded: byte 6" convert -o kept.pb.gz bad.folded
[ "$(cat kept.pb.gz)" = before ] || fail "a conversion that failed has changed its file"
refuse 1 "/dev/full: cannot write: No space left on device" convert --to folded -o /dev/full "$go/cpu.pb.gz"
[ "$(find . -name 'kept.pb.gz*')" = ./kept.pb.gz ] || fail "a temporary file is left: $(ls)"
(umask 027 && "$cpprof" convert -o mode.folded "$go/cpu.pb.gz")
[ "$(stat -c %a mode.folded)" = 640 ] || fail "a new file has the mode $(stat -c %a mode.folded), the umask leaves 640"
chmod 604 mode.folded
converts -o mode.folded "$go/cpu.pb.gz"
[ "$(stat -c %a mode.folded)" = 604 ] || fail "a file that was replaced has another mode: $(stat -c %a mode.folded)"
refuse 1 "cannot write" convert -o no/such/folder.folded "$go/cpu.pb.gz"

# ---- wrong options

refuse 2 "-o: expected a name that ends in pb.gz, pb, folded" convert -o cpu.gif "$go/cpu.pb.gz"
refuse 2 "--to: expected pb.gz, pb, folded" convert --to gif -o cpu.gif "$go/cpu.pb.gz"
refuse 2 "expected -o OUT, the file to write, found none" convert "$go/cpu.pb.gz"
refuse 2 "--json: the formats are those of --to" convert --json -o cpu.folded "$go/cpu.pb.gz"
mkdir nothing
cd nothing || exit 1
refuse 2 "expected FILE, found none" convert -o cpu.folded
cd ..
refuse 2 "top: -o: this verb writes no file" top -o cpu.txt "$go/cpu.pb.gz"

finish_tests
