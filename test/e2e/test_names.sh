#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no compiler of C++ for musl
#
# test_names.sh: texts have the names that go tool pprof shows: those of the program names (linked/names.cc) have
# templates, lambdas, operators, and two are a Rust compiler's.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

"$linked/names" "$work" 2>errors || fail "names: $(cat errors)"

# named TEXT: the names in its comments
named() {
    awk -F '\t' '/^#\t0x/ && NF > 2 { sub(/\+0x[0-9a-f]+$/, "", $3); print $3 }' "$1" | sort -u
}

# names_in RAW: of all its locations
names_in() {
    awk '/^Locations/ { on = 1; next } /^Mappings/ { on = 0 }
        on && sub(/^ *[0-9]+: 0x[0-9a-f]+ M=[0-9]+ /, "") { sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=-?[0-9]+.*$/, ""); print }' "$1"
}

# alike: newer versions leave out the parameters of a function around the name, and what is generic in Rust's paths.
alike() {
    sed '/^</s/<[a-z]*>/<>/g' | awk '{
        text = ""
        while ((at = index($0, ")")) != 0) {
            text = text substr($0, 1, at)
            $0 = substr($0, at + 1)
            if ($0 !~ /^( const)?::/ || text ~ /[(]anonymous namespace[)]$/)
                continue
            depth = 0
            for (i = length(text); i > 0; i--) {
                c = substr(text, i, 1)
                depth += c == ")" ? 1 : c == "(" ? -1 : 0
                if (depth == 0) break
            }
            text = substr(text, 1, i) ")"
        }
        print text $0
    }' | sort -u
}

# ---- as go tool pprof has them ----

for name in heap block threadcreate thread; do
    named "$name.txt" >of_text
    [ -s of_text ] || fail "the text of $name has no names: $(cat "$name.txt")"
    ! grep '_ZN\|_Z[0-9A-Z]\|_RN' of_text >&2 || fail "mangled names in the text of $name"
    for go in go /usr/bin/go; do
        [ -x "$(command -v $go)" ] || continue
        $go tool pprof "$as_written" -raw "$name.pb.gz" >"$name.raw" 2>"$name.err" || fail "$name: $(cat "$name.err")"
        names_in "$name.raw" | alike >of_go
        alike <of_text | comm -23 - of_go >strange
        [ ! -s strange ] || fail "$($go version) has others than the text of $name: $(cat strange)"
    done
done

# ---- what they are ----

# GCC 13 has begun to count the lambdas of each type by themselves; so there are two numbers for one.
named heap.txt | sed 's/{lambda(int)#1}/{lambda(int)#2}/' >of_heap
while read -r wanted; do
    has_line of_heap "$wanted" || fail "no $wanted in the text of heap: $(cat of_heap)"
done <<'NAMES'
(anonymous namespace)::Hidden::~Hidden
(anonymous namespace)::Hidden::run
app::Table::operator std::vector*
app::Table::operator double
app::Table::operator<
app::Table::operator<<
app::Table::operator()
app::Table::operator new[]
app::pack
app::operator"" _kib
<app::rust::Vec<>>::push
<app::Vec<T> as app::Drop>::drop
deeper()::{lambda(int (*)(char), int (&) [3])#1}::operator()() const::Local::run
allocate()::{lambda(auto:1&)#1}::operator()
allocate()::{lambda(int)#2}::operator()
std::vector::resize
NAMES
for pair in "block wait_for" "block std::mutex::lock" "threadcreate std::thread::thread" \
    "thread main::{lambda()#1}::operator()"; do
    named "${pair%% *}.txt" | grep -qxF "${pair#* }" || fail "no ${pair#* } in the text of ${pair%% *}"
done
expect_contains "every stack in full" thread.debug2.txt "
main::{lambda()#1}::operator()(...)
	$linked/names +0x"
expect_contains "who created it" thread.debug2.txt "created by std::thread::_M_start_thread in thread "
! grep '_ZN\|_Z[0-9A-Z]' thread.debug2.txt >&2 || fail "mangled names in every stack in full"

# ---- texts are read as before ----

for name in heap block threadcreate thread; do
    for go in go /usr/bin/go; do
        [ -x "$(command -v $go)" ] || continue
        $go tool pprof -top "$name.txt" >top 2>"$name.err" || fail "$($go version), $name.txt: $(cat "$name.err")"
    done
done
go_pprof -raw threadcreate.txt >threadcreate.txt.raw 2>err || fail "threadcreate.txt: $(cat err)"
raw threadcreate.pb.gz
expect_equal "threads in the text" "$(weight threadcreate.pb.gz.raw)" "$(weight threadcreate.txt.raw)"

# ---- alloctrace ----

preload "alloctrace,log=$work/trace" "$linked/names" "$work" 2>errors || fail "alloctrace: $(cat errors)"
expect_contains "alloctrace" trace "app::Table::operator double"
! grep '_ZN\|_Z[0-9A-Z]' trace >&2 || fail "mangled names in the trace"
echo ok
