#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_wall_threads.sh: with `thread-label` the wall-clock profile says which thread it was, by its name at that moment.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# names RAW FUNCTION: milliseconds and name of each thread that has the function; "-" without a name.
names() {
    awk -v wanted="$2" '
        /^Samples:/ { part = 1; next }
        /^Locations/ { part = 2; next }
        /^Mappings/ { part = 3; next }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { n++; ns[n] = $2; sub(/:/, "", ns[n]); $1 = $2 = ""; ids[n] = $0; name[n] = "-"; next }
        part == 1 && /thread:\[/ { sub(/.*thread:\[/, ""); sub(/\].*/, ""); name[n] = $0 }
        part == 2 && $4 == wanted { sub(/:/, "", $1); is[$1] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                count = split(ids[i], list, " ")
                for (k = 1; k <= count && !(list[k] in is); k++);
                if (k <= count) sum[name[i]] += ns[i]
            }
            for (i in sum) printf "%d %s\n", sum[i] / 1e6, i
        }' "$1" | sort -n
}
only() { names "$1" "$2" | awk '{ print $2 }' | sort | tr '\n' ' ' | sed 's/ $//'; }
time_of() { names "$1" "$2" | awk -v name="$3" '$2 == name { print $1 } END { print 0 }' | head -n 1; }

check_names() { # RAW
    expect_equal "threads that slept as alpha" alpha "$(only "$1" sleep_as_alpha)"
    expect_equal "threads that ran as beta" beta "$(only "$1" run_as_beta)"
}

preload "wall,thread-label,file=$work/named.pb.gz" "$victims/wall_threads" 1600 >named.said
raw named.pb.gz
check_names named.pb.gz.raw
# It waits a quarter of the time under its first name, and is looked at for a new one every second.
expect_at_least "milliseconds of a thread that another one has named" 1600 \
    "$(time_of named.pb.gz.raw wait_to_be_named gamma)"
expect_at_least "milliseconds before" 200 "$(time_of named.pb.gz.raw wait_to_be_named wall_threads)"
# They took the name with their first instructions.
all=$(names named.pb.gz.raw live_briefly | awk '{ sum += $1 } END { print sum }')
expect_at_least "milliseconds of brief threads" "$(percent "$all" 90)" "$(time_of named.pb.gz.raw live_briefly brief)"
expect_at_least "of these" 100 "$all"

# Nobody has asked.
preload "wall,file=$work/plain.pb.gz" "$victims/wall_threads" 100 >plain.said
raw plain.pb.gz
! grep -q 'thread:\[' plain.pb.gz.raw || fail "there are names that nobody has asked for"

# By cpprof, and by HTTP.
"$BUILD/bin/cpprof" record -e wall --thread-label -o recorded.pb.gz -- "$victims/wall_threads" 400 >recorded.said 2>recorded.err ||
    fail "record: $(cat recorded.err)"
raw recorded.pb.gz
check_names recorded.pb.gz.raw
preload "http=unix:$work/socket" "$victims/wall_threads" 60000 >http.said 2>http.err &
process=$!
started="$started $process"
wait_until test -S socket
fetch() { timeout 60 "$BUILD/bin/cpprof" merge -o "$1" "unix:$work/socket:/debug/pprof/wall?seconds=1$2" || fail "no $1"; }
fetch asked.pb.gz '&thread-label=1'
fetch after.pb.gz ''
raw asked.pb.gz
expect_equal "threads that slept as alpha, by HTTP" alpha "$(only asked.pb.gz.raw sleep_as_alpha)"
raw after.pb.gz
! grep -q 'thread:\[' after.pb.gz.raw || fail "a later request has names"
echo ok
