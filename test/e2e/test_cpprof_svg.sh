#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_svg.sh: `cpprof flame -o OUT.svg` and `cpprof convert -o OUT.svg` draw a flame graph: valid XML without a script,
# every name escaped, names cut to fit, and frames in the right places.
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# draws OUT WORDS...: flame and convert write the same file.
draws() {
    out=$1
    shift
    "$cpprof" flame -o "$out" "$@" 2>err || fail "flame $*: $(cat err)"
    "$cpprof" convert --to svg -o - "$@" >other 2>err || fail "convert $*: $(cat err)"
    cmp -s "$out" other || fail "flame and convert differ: $*"
    grep -q '<script' "$out" && fail "$out has a script"
}

# has FILE TEXT: a line of the file is that text.
has() {
    grep -qxF -- "$2" "$1" || fail "$1: expected $2, found $(cat "$1")"
}

printf 'main;work;leaf 30\nmain;work 20\nmain;other 40\nidle 10\n' >four.folded
draws four.svg four.folded
has four.svg '<g><title>all: 100 (100%)</title><rect x="10.00" y="34" width="1179.50" height="17" fill="#c6c8cd"/><text x="13.0" y="46.5">all</text></g>'
for expected in 'main: 90 (90.00%)</title><rect x="10.00" y="52" width="1061.50"' 'work: 50 (50.00%)</title><rect x="10.00" y="70" width="589.50"' \
    'other: 40 (40.00%)</title><rect x="600.00" y="70" width="471.50"' 'leaf: 30 (30.00%)</title><rect x="10.00" y="88" width="353.50"' \
    'idle: 10 (10.00%)</title><rect x="1072.00" y="52" width="117.50"'; do
    grep -qF "<g><title>$expected" four.svg || fail "four.svg: expected $expected, found $(cat four.svg)"
done

# The root at the bottom, and another width.
draws bottom.svg --root bottom --width 420 four.folded
grep -qF '<title>all: 100 (100%)</title><rect x="10.00" y="88" width="399.50"' bottom.svg || fail "--root bottom: $(cat bottom.svg)"
grep -qF '<title>leaf: 30 (30.00%)</title><rect x="10.00" y="34"' bottom.svg || fail "--root bottom: $(cat bottom.svg)"

# Filters, sample types, several files.
draws work.svg --focus work four.folded
grep -q idle work.svg && fail "--focus: idle is still there"
draws heap.svg --sample alloc_space "$go/heap.pb.gz"
grep -q 'alloc_space: ' heap.svg || fail "--sample: $(head -4 heap.svg)"
draws twice.svg four.folded four.folded
grep -qF 'leaf: 60 (30.00%)' twice.svg || fail "two files: $(cat twice.svg)"

# Object files have colours of their own, and a key names them.
printf 'app 1 1.0: 10 cycles:\n\t10 f (/lib/b.so)\n\t20 g (/lib/b.so)\n\t30 main (/bin/app)\n' >modules.txt
draws modules.svg modules.txt
has modules.svg '<rect x="10.0" y="118.0" width="12" height="12" fill="#a3c7f0"/><text x="27.0" y="128.0">b.so</text>'
has modules.svg '<rect x="70.4" y="118.0" width="12" height="12" fill="#f0c7a3"/><text x="87.4" y="128.0">app</text>'

# Names that mean harm, and long ones.
printf 'first 500\n</title><script>alert(1)</script>;"&'"'"'<b>;\377\001\357\277\276 \360\237\246\200 1000\n' >hostile.folded
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "long%d.", i; print " 500" }' >>hostile.folded
printf 'a_name_that_has_no_room;deeper 100\n' >>hostile.folded
draws hostile.svg hostile.folded
grep -q '<b>' hostile.svg && fail "a name was not escaped"
grep -qF '>a_name…</text>' hostile.svg || fail "a name was not cut to fit: $(cat hostile.svg)"
[ "$(wc -c <hostile.svg)" -lt 8000 ] || fail "a long name makes a large file: $(wc -c <hostile.svg) bytes"
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "f;"; print "f 5" }' >deep.folded
draws deep.svg deep.folded
[ "$(grep -c '<title>f: ' deep.svg)" = 4000 ] || fail "expected 4000 frames, found $(grep -c '<title>f: ' deep.svg)"
grep -qF '<title>[deeper frames]: 5 (100%)</title>' deep.svg || fail "deep.svg does not say that it is cut"
printf '' | "$cpprof" convert --to pb -o empty.pb --ignore . four.folded
draws empty.svg empty.pb

if command -v python3 >/dev/null; then
    python3 - ./*.svg <<'END' || fail "not valid XML"
import sys, xml.dom.minidom
for name in sys.argv[1:]:
    picture = xml.dom.minidom.parse(name).documentElement
    assert picture.tagName == "svg", name
    assert {node.tagName for node in picture.getElementsByTagName("*")} <= {"g", "title", "rect", "text", "style"}, name
    for node in picture.getElementsByTagName("rect"):
        x, width = node.getAttribute("x"), node.getAttribute("width")
        if x and width != "12":
            assert 10 <= float(x) and float(x) + float(width) <= float(picture.getAttribute("width")) - 9, (name, x, width)
END
else
    echo "skipped: there is no python3 to check the XML"
fi

# ---- wrong options

"$cpprof" flame -o x.svg --width 3 four.folded 2>err && fail "--width 3 is accepted"
grep -q 'expected a number from 200 to 20000' err || fail "--width 3: $(cat err)"
"$cpprof" flame -o x.svg --root left four.folded 2>err && fail "--root left is accepted"
grep -q -- "--root: expected top or bottom, found 'left'" err || fail "--root left: $(cat err)"
"$cpprof" top --root top four.folded 2>err && fail "top --root is accepted"

finish_tests
