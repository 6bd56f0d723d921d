#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_options.sh: LIBPPROF and gperftools' variables: good ones work, bad ones are named once and do not
# keep the others from working, and no text at all hurts the program.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

run_with() { # OPTIONS: messages in errors
    expect_equal "status with LIBPPROF=$1" 42 "$(status preload "$1" "$victims/ends" return 2>errors)"
}
run_alone() { # VARIABLE=VALUE...
    expect_equal "status with $*" 42 \
        "$(status env "$@" LD_PRELOAD="$library" "$victims/ends" return 2>errors)"
}

# Nothing asked for, nothing done.
for options in "" "," ",,," "file=$work/none.pb.gz" "symbolize=none"; do
    run_with "$options"
    expect_equal "messages with \"$options\"" "" "$(cat errors)"
    expect_equal "files with \"$options\"" "errors" "$(ls)"
done

# One bad word beside good ones: named once; the good ones work.
for bad in nonsense nonsense=5 cpu:0 cpu:-1 cpu:1000001 cpu:x cpu: cpu:99999999999999999999 cpu=1.5 \
    file= file=%q file=a% engine engine=nonsense engine=Perf symbolize=nonsense subprocesses=1 \
    duration duration=x duration=-1s duration=99999999999h log= heap:x leak:0 lifetime:0 block:0 mutex:x http=x CPU =cpu :; do
    run_with "$bad,cpu:1000,file=$work/p.pb.gz,symbolize=names"
    expect_equal "lines for \"$bad\"" 1 "$(grep -c . errors)"
    expect_contains "message for \"$bad\"" errors "'$bad'"
    raw p.pb.gz
    expect_work "weight of last_work with \"$bad\"" 200 "$(weight_with p.pb.gz.raw last_work)" 25
    rm p.pb.gz
done

# Long and strange text.
long=$(printf '%5000s' '' | tr ' ' x)
run_with "$long,cpu:1000,file=$work/p.pb.gz"
[ -s p.pb.gz ] || fail "no profile beside a word of 5000 characters"
expect_equal "lines for a word of 5000 characters" 1 "$(grep -c . errors)"
run_with "cpu,file=/$long"
[ -s errors ] || fail "a path of 5000 characters is not mentioned"
run_with "cpu,file=$work/$(printf '%300s' '' | tr ' ' y)"
expect_contains "messages for a name of 300 characters" errors "could not be written"
run_with "$(printf 'cpu,\001\377\033[2J%%s%%n,file=%s/p.pb.gz' "$work")"
run_with "$(printf 'x,%.0s' $(seq 2000))cpu,file=$work/many.pb.gz"
[ -s many.pb.gz ] || fail "no profile after 2000 bad words"
rm -f ./*

# The frequency, 100 Hz if none is given; the last word counts.
run_with "cpu,file=$work/p.pb.gz"
raw p.pb.gz
grep -qx 'Period: 10000000' p.pb.gz.raw || fail "the default is not 100 Hz"
run_with "cpu:20,cpu:500,file=$work/q.pb.gz,file=$work/p.pb.gz"
raw p.pb.gz
grep -qx 'Period: 2000000' p.pb.gz.raw || fail "cpu:500 is not 2 ms"
expect_no_file q.pb.gz

# Names in the template.
run_with "cpu,file=$work/%e.%k.%n.100%%"
[ -s ends.cpu.1.100% ] || fail "no ends.cpu.1.100% in: $(ls)"
run_with "cpu,file=$work/%p.pid"
find . -name '*.pid' | grep -Eqx '\./[0-9]+\.pid' || fail "no number in: $(ls)"
run_with "cpu,file=$work/%t.time"
find . -name '*.time' | grep -Eqx '\./[0-9]{10,}\.time' || fail "no time in: $(ls)"

# Messages where they are wanted.
run_with "log=$work/messages,nonsense,cpu,file=$work/p.pb.gz"
expect_equal "messages on stderr beside a log" "" "$(cat errors)"
expect_contains "log" messages "'nonsense'"

# symbolize=none leaves names to the reader.
run_with "cpu:1000,symbolize=none,file=$work/p.pb.gz"
go_pprof -symbolize=none -raw p.pb.gz >p.raw 2>/dev/null
! grep -q 'last_work' p.raw || fail "symbolize=none has names"
# duration: no sample after that time. The program works 200 ms, the profile is 1 ms.
run_with "cpu:1000,duration=1ms,file=$work/p.pb.gz"
raw p.pb.gz
[ "$(weight p.pb.gz.raw)" -lt 150 ] || fail "duration=1ms did not end: $(weight p.pb.gz.raw)"

# gperftools' names.
run_alone CPUPROFILE="$work/g.pb.gz" CPUPROFILE_FREQUENCY=250
raw g.pb.gz
grep -qx 'Period: 4000000' g.pb.gz.raw || fail "CPUPROFILE_FREQUENCY=250 is not 4 ms"
run_alone CPUPROFILE= CPUPROFILE_FREQUENCY=250
expect_equal "messages" "" "$(cat errors)"
run_alone CPUPROFILE="$work/g.pb.gz" CPUPROFILE_FREQUENCY=lots
expect_contains "messages" errors CPUPROFILE_FREQUENCY
raw g.pb.gz

# Each variable is for its own kind alone.
run_alone LIBPPROF=mutex,file="$work/all.%k" CPUPROFILE="$work/c.prof" HEAPPROFILE="$work/prefix"
expect_equal "messages" "" "$(cat errors)"
for file in all.mutex c.prof prefix.heap; do
    raw $file
done
expect_no_file c.prof.cpu
expect_no_file c.prof.heap

# CPUPROFILESIGNAL: the profile begins at one signal and ends at the next, each time into another file.
milliseconds_of() { awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; }
has_used() { [ "$(milliseconds_of "$1")" -ge "$2" ]; }
has_threads() { [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" = "$2" ]; }
burns_for() { wait_until has_used "$burner" $(($(milliseconds_of "$burner") + $1)); }
env CPUPROFILE="$work/s.pb.gz" CPUPROFILE_FREQUENCY=1000 CPUPROFILESIGNAL=12 LD_PRELOAD="$library" \
    sh -c 'while :; do :; done' 2>errors &
burner=$!
started="$started $burner"
wait_until has_threads $burner 2
burns_for 100
for number in 0 1; do
    expect_no_file s.pb.gz.$number
    begin=$(milliseconds_of $burner)
    kill -USR2 $burner
    burns_for 150
    expect_no_file s.pb.gz.$number
    kill -USR2 $burner
    wait_until [ -s s.pb.gz.$number ]
    echo $(($(milliseconds_of $burner) - begin + 20)) >most.$number
    burns_for 100
done
kill -USR2 $burner
burns_for 100
kill -TERM $burner
wait $burner || true
expect_equal "messages" "" "$(cat errors)"
for number in 0 1 2; do
    raw s.pb.gz.$number
done
for number in 0 1; do
    expect_at_least "weight of file $number" 75 "$(weight s.pb.gz.$number.raw)"
    expect_at_least "what was used meanwhile, and the weight of file $number" \
        "$(weight s.pb.gz.$number.raw)" "$(cat most.$number)"
done
expect_no_file s.pb.gz
# The thread that waits is none of the program's.
run_alone LIBPPROF=thread,file="$work/w.pb.gz" CPUPROFILE="$work/s.pb.gz" CPUPROFILESIGNAL=12
raw w.pb.gz
expect_equal "threads of the program" 1 "$(weight w.pb.gz.raw)"
for bad in 32 USR2; do
    run_alone CPUPROFILE="$work/g.pb.gz" CPUPROFILESIGNAL=$bad
    expect_contains "messages" errors CPUPROFILESIGNAL
done
echo ok
