#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_text_forms.sh: the texts of all profiles beside Go's, from two programs that do the same
# (linked/generator.c, golden/go/generator.go.txt): line by line and field by field, what the rows say of
# the program, and that go tool pprof reads the same totals out of text and profile.proto.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
golden=$SRC/test/golden/go
form=$SRC/test/e2e/text_form.awk

"$linked/generator" "$work" 2>errors || fail "the generator: $(cat errors)"
expect_equal "messages" "" "$(cat errors)"
profiles="heap allocs block mutex example.conn goroutine threadcreate"

show() { # WHAT FILE: and the checks of text_form.awk
    awk -v show="$1" -v nameless="${3-}" -f "$form" "$2" || fail "$2, see above"
}

# differences WHAT NAME [NAMELESS]: lines that Go's text has ("<") or ours (">") alone.
differences() {
    show "$1" "$golden/$2.txt" "${3-}" >of_go
    show "$1" "$2.txt" "${3-}" >of_ours
    if [ "$1" = follows ]; then
        LC_ALL=C sort -o of_go of_go
        LC_ALL=C sort -o of_ours of_ours
    fi
    diff of_go of_ours | sed -n '/^[<>]/p'
}

# ---- lines and their fields ----

# Functions of libc's that only debug files have a name for are addresses alone; where they stand depends on libc.
named() { sed '/^> #<TAB>X$/d'; }

# The maps, for readers to find names by. Comments of our own speak of what was lost; there is none here.
for name in block mutex example.conn goroutine; do
    expect_equal "lines of $name that differ" "> --- Memory map: ---" "$(differences forms $name | named)"
    expect_equal "order of lines of $name that differs" \
        "> <blank>  ->  --- Memory map: ---
> <blank>  ->  <blank>" "$(differences follows $name no | sed '/ <blank>  ->  N/d')"
done

# Go does not know where its threads were created: its comments are all without names.
expect_equal "lines of threadcreate that differ" "\
> #<TAB>X<TABS>NAME+X<TABS>PLACE
> --- Memory map: ---" "$(differences forms threadcreate | sed '/^< #<TAB>X$/d' | named)"

estimated="TotalAlloc, Mallocs, Frees, HeapObjects, BySize"
! is_musl "$library" || estimated="Alloc, TotalAlloc, Mallocs, Frees, HeapAlloc, HeapSys, HeapInuse, HeapObjects, BySize"

# What C has not is 0; what the versions of Go have between them is there; sizes as of 2011.
for name in heap allocs; do
    expect_equal "lines of $name that differ" "\
> # (Estimated from samples: $estimated.)
> # MHeapMapSys = N
< # PauseNs = [N...]
< # PauseEnd = [N...]
> # PauseNs = N
> # PauseEnd = N
> # EnableGC = false
> # BySize = Size * (Active = Mallocs - Frees)
> # (Excluding large blocks.)
> # N * (N = N - N)
> MAPPED_LIBRARIES:" "$(differences forms $name | named)"
    expect_equal "order of lines of $name that differs" "> <blank>  ->  MAPPED_LIBRARIES:" \
        "$(differences follows $name no | sed '/ = /d; /# (/d')"
    # Go's names in Go's order.
    show forms "$golden/$name.txt" | sed -n 's/^# \([A-Za-z]*\) = .*/\1/p' >of_go
    show forms $name.txt | sed -n 's/^# \([A-Za-z]*\) = .*/\1/p' | grep -vx 'MHeapMapSys\|EnableGC\|BySize' >of_ours
    cmp of_go of_ours || fail "$name: the names of the statistics are $(tr '\n' ' ' <of_ours)"
done

# ---- which functions: ours in Go's words ----

known="alloc_small alloc_big garbage w main worker waiter burn_phase add_more pprof_do pthread_join \
pthread_mutex_lock pthread_mutex_unlock"

# stacks_of FILE: of each row the functions of the program, those that differ.
stacks_of() {
    show records "$1" | cut -f 3 | sed '
        s/main\.main\.func1\.1/burn_phase/g; s/main\.main\.func1/worker/g
        s/main\.main\.func2/waiter/g; s/main\.main\.func3/add_more/g
        s/\(^\| \)main\./\1/g; s/\([a-z]\)\([A-Z]\)\([a-z]*\)/\1_\l\2\3/g
        s/sync\.(\*Mutex)\.Lock/pthread_mutex_lock/; s/sync\.(\*Mutex)\.Unlock/pthread_mutex_unlock/
        s/sync\.(\*Wait_group)\.Wait/pthread_join/; s/runtime\/pprof\.Do/pprof_do/' |
        awk -v known="$known" '
            BEGIN { n = split(known, list, " "); for (i = 1; i <= n; i++) is_known[list[i]] = 1 }
            { text = ""; for (i = 1; i <= NF; i++) if ($i in is_known) text = text $i " "; print text }' |
        sort -u
}

# same_stacks NAME PATTERN: but for those that are another thing in the two.
same_stacks() {
    stacks_of "$golden/$1.txt" | grep -v "$2" >of_go
    stacks_of "$1.txt" | grep -v "$2" >of_ours
    diff of_go of_ours >&2 || fail "stacks of $1 differ: Go's (<), ours (>)"
    [ -s of_ours ] || fail "$1 has no stacks"
}

# Go allocates while it writes a profile, and for labels; the C library for a thread.
same_stacks heap '^w \|^main $\|^worker $\|^$'
same_stacks allocs '^w \|^main $\|^worker $\|^$'
same_stacks block '^main $' # where Go's profile of the CPU is stopped, it waits
same_stacks mutex '^$'
same_stacks example.conn '^$'
same_stacks goroutine '^$'

# Counts that the program determines; labels.
numbers_and_labels() { show records "$1" | cut -f 1,2 | tr '\t\n' ' |'; }
for name in example.conn goroutine; do
    expect_equal "rows of $name" "$(numbers_and_labels "$golden/$name.txt")" "$(numbers_and_labels $name.txt)"
done
expect_equal "rows of threadcreate" "7 pthread_create main|1 pprof_first_thread|" "$(show records threadcreate.txt |
    sed 's/\t\t/ /; s/ __libc_.*//' | tr '\n' '|')"

# 40 blocks of 1 MiB, 200 000 of 100 B, 200 000 of 2000 B that are freed; 4 standard errors.
go_pprof -raw heap.txt >heap.txt.raw 2>heap.err || fail "heap.txt: $(cat heap.err)"
expect_near "blocks of alloc_big" 40 "$(field 3 "$(blocks_of heap.txt.raw alloc_big main)")" 10
expect_near "blocks of alloc_small" 200000 "$(field 3 "$(blocks_of heap.txt.raw alloc_small main)")" 130000
expect_near "blocks of garbage" 200000 "$(field 1 "$(blocks_of heap.txt.raw garbage main)")" 29000
expect_equal "what garbage has" "0 0" "$(field 3- "$(blocks_of heap.txt.raw garbage main)")"

# Of 60 times that the lock is taken the first and the last have nobody waiting.
lock_waits=$(show records block.txt | awk -F '\t' '$3 ~ /^pthread_mutex_lock burn_phase pprof_do worker/ { print $1 }')
releases=$(show records mutex.txt | awk -F '\t' '$3 ~ /^pthread_mutex_unlock burn_phase pprof_do worker/ { print $1 }')
for pair in "$lock_waits" "$releases"; do
    expect_at_least "contentions of '$pair'" 1 "$(field 2 "$pair")"
    expect_at_least "59, and the contentions of '$pair'" "$(field 2 "$pair")" 59
done
expect_near "what the holders are charged with" "$(field 1 "$lock_waits")" "$(field 1 "$releases")" \
    "$(percent "$(field 1 "$lock_waits")" 2)"

# ---- every stack in full ----

# outline FILE: what its lines are. A C program does not know its functions' arguments.
outline() {
    sed -E 's/^goroutine [0-9]+ \[[a-z ]+\]:$/HEADER/; s/^thread [0-9]+ "generator" \[[a-z_0-9]+\]:$/HEADER/
        s/^created by [a-zA-Z_.]+( in thread [0-9]+)?$/CREATOR/; s/^\t.+ \+0x[0-9a-f]+$/PLACE/
        s/^[^ ]+\(.*\)$/FRAME/; s/^$/BLANK/' "$1"
}

# What follows what, and how often there is each, but for frames.
outline_of() {
    outline "$1" | awk 'NR > 1 && !(last $0 in seen) { seen[last $0]; print last " -> " $0 } { last = $0 }' | sort
    outline "$1" | grep -vx 'FRAME\|PLACE' | sort | uniq -c
    outline "$1" | sed -n '1p; $p'
}
outline_of "$golden/goroutine.debug2.txt" >of_go
outline_of goroutine.debug2.txt >of_ours
diff of_go of_ours >&2 || fail "full stacks are laid out in another way: Go's (<), ours (>)"

# The functions of the program: the caller's come first; who created whom.
functions_of() {
    sed -nE 's/main\.main\.func2/waiter/; s/^(main\.)?(w|main|waiter)\(.*/\2/p
        s/^created by (main\.)?main( in thread [0-9]+)?$/created by main/p' "$1" | tr '\n' ' '
}
expect_equal "functions in full stacks" "$(functions_of "$golden/goroutine.debug2.txt")" \
    "$(functions_of goroutine.debug2.txt)"
head -n 1 goroutine.debug2.txt | grep -q ' \[running\]:$' || fail "the caller does not run"
expect_equal "states" 7 "$(grep -c ' \[read\]:$' goroutine.debug2.txt)"

# ---- the same totals by way of profile.proto ----

# all_totals RAW: the sums of the samples' numbers. What goes on (proto alone) is left out.
all_totals() {
    awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
        on && /^ *[0-9]/ { take(); sub(/:.*/, ""); n = split($0, v, " ") }
        on && /state:\[waiting\]/ { n = 0 }
        function take(   i) { for (i = 1; i <= n; i++) sum[i] += v[i]; if (n > most) most = n; n = 0 }
        END { take(); for (i = 1; i <= most; i++) printf "%.0f%s", sum[i], i < most ? " " : "\n" }' "$1"
}

for name in $profiles; do
    raw "$name.pb.gz"
    go_pprof -raw "$name.txt" >"$name.txt.raw" 2>"$name.err" || fail "$name.txt: $(cat "$name.err")"
    of_text=$(all_totals "$name.txt.raw")
    of_proto=$(all_totals "$name.pb.gz.raw")
    case $name in
    heap | allocs) # the reader scales the text's rows, and cuts what is behind the point
        lines=$(show records "$name.txt" | wc -l)
        for i in 1 2 3 4; do
            expect_near "total $i of $name" "$(field $i "$of_proto")" "$(field $i "$of_text")" "$lines"
        done
        ;;
    *) expect_equal "totals of $name" "$of_proto" "$of_text" ;;
    esac
done
echo ok
