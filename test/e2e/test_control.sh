#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 2
#
# test_control.sh: the control socket: what it answers, who finds it, how cpprof reads profiles from it, and what becomes of
# it when the program forks, executes another one, and ends.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3
own_programs
cpprof=$BUILD/bin/cpprof
ask=$SRC/test/e2e/control/ask.py
own=$work/run/pprof # the folder of the sockets
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# start OPTIONS [WHAT...]: a program that works until `end`. "echo >&9" is the byte that it waits for.
start() {
    start_options=$1
    shift
    guest env LIBPPROF="$start_options" LD_PRELOAD="$library" "$victims/web_guest" "$@"
    at=$own/$guest.sock
}

# listens: the program does so on its socket.
listens() { "$cpprof" configure "$guest" >/dev/null 2>&1; }

end() {
    ends_with "${1:-7}" "$guest"
}

# answer LINE: the body of an answer that must be 200.
answer() {
    python3 "$ask" "$at" "$1" >answer.txt || fail "no answer to $1"
    expect_equal "status of $1" 200 "$(sed -n 1p answer.txt)"
    sed 1d answer.txt
}

status_of() {
    python3 "$ask" "$at" "$1" | sed -n 1p
}

# ---- what it answers ----

start "control,heap:1,file=$work/%k.pb.gz"
wait_until listens
expect_equal "mode of the folder" 700 "$(stat -c %a "$own")"
expect_equal "mode of the socket" 600 "$(stat -c %a "$at")"
expect_equal "messages" "" "$(cat guest.err)"
version=$("$cpprof" --version | sed 's/.* //')
expect_equal "status" "version $version pid $guest loaded N on heap:1 file $work/%k.pb.gz" \
    "$(answer status | sed "s/^loaded [0-9][0-9]*\$/loaded N/" | tr "\n" " " | sed "s/ \$//")"
expect_equal "command line" "$victims/web_guest" "$(answer cmdline)"
expect_equal "an unknown profile" 404 "$(status_of nothing)"
expect_equal "a bad parameter" 400 "$(status_of 'heap?seconds=x')"
python3 "$ask" "$at" heap -o heap.pb.gz >/dev/null
"$cpprof" top heap.pb.gz >heap.txt
expect_contains "the heap profile" heap.txt keep_memory

# ---- cpprof ----

"$cpprof" top "pid:$guest/profile?seconds=1" >cpu.txt || fail "no CPU profile"
expect_contains "the CPU profile" cpu.txt burn_cpu
"$cpprof" diff "heap.pb.gz" "pid:$guest/heap" >diff.txt || fail "no difference"
expect_contains "the difference" diff.txt total
expect_equal "an unknown profile, by cpprof" 1 "$(status "$cpprof" top "pid:$guest/nothing" 2>errors)"
expect_contains "an unknown profile, by cpprof" errors "pid:$guest/nothing: the process answered 404: Unknown profile"
expect_equal "a profile that is off" 1 "$(status "$cpprof" top "pid:$guest/peak" 2>errors)"
expect_contains "a profile that is off" errors "peak is off; on with \`cpprof configure\` or LIBPPROF=peak"
expect_equal "a name with a space" 1 "$(status "$cpprof" top "pid:$guest/no thing" 2>errors)"
expect_contains "a name with a space" errors "pid:$guest/no thing: the process answered 404: Unknown profile"
expect_equal "a process without a socket" 1 "$(status "$cpprof" top "pid:$$" 2>errors)"
expect_contains "a process without a socket" errors "LIBPPROF=control"
expect_equal "no number" 1 "$(status "$cpprof" top pid:x 2>errors)"
expect_contains "no number" errors "expected pid:NUMBER"

# ---- configure ----

answer 'configure block:1,file=/nowhere/%k' >configured.txt
expect_contains "what is on then" configured.txt "on heap:1 block:1"
holds_up() { answer block >block.pb.gz && "$cpprof" top block.pb.gz 2>/dev/null | grep -q hold_lock; }
wait_until holds_up
expect_equal "an unknown option" 400 "$(status_of 'configure nonsense')"
expect_equal "an unknown option, by cpprof" 1 "$(status "$cpprof" configure "$guest" heap:1,hepa:2 2>errors)"
expect_contains "an unknown option, by cpprof" errors "unknown option 'hepa:2'"
expect_equal "no option" 400 "$(status_of configure)"
answer "configure block=off,heap=off" >configured.txt
expect_equal "nothing is on then" on "$(grep '^on' configured.txt)"
answer "configure cpu:1000,file=$work/%k.pb.gz" >configured.txt
expect_equal "the CPU profile is on" "on cpu" "$(grep '^on' configured.txt)"
expect_no_file cpu.pb.gz
"$cpprof" configure "$guest" cpu=off,heap:1 >configured.txt || fail "cpprof configure"
expect_equal "the CPU profile is off" "on heap:1" "$(grep '^on' configured.txt)"
"$cpprof" top cpu.pb.gz >cpu.txt || fail "no file of the CPU profile"
expect_equal "what cannot be turned off" 400 "$(status_of 'configure thread=off')"
"$cpprof" configure "pid:$guest" >configured.txt || fail "cpprof configure without options"
expect_contains "cpprof configure without options" configured.txt "pid $guest"
"$cpprof" configure "$guest" "http=unix:$work/http.sock" >configured.txt || fail "cpprof configure http"
for what in "status" "configure -d heap=off" "detach -d ''" "hold -d ''" "stay -d ''"; do
    eval "set -- $what"
    path=$1
    shift
    python3 "$SRC/test/e2e/http/ask.py" "unix:$work/http.sock:/control/$path" "$@" >answer.txt
    expect_equal "$what by http" 404 "$(sed -n 1p answer.txt)"
done
rm heap.pb.gz
end
expect_no_file "$at"
[ -s heap.pb.gz ] || fail "no file at the end"

# ---- what becomes of it ----

none_is_left() { [ -z "$(ls "$own")" ]; }

# A child of fork has none.
start control child
wait_until listens
echo >&9
wait_until test -s guest.out
expect_equal "sockets of a program that forks" "$guest.sock" "$(ls "$own")"
end
expect_equal "sockets after the end" "" "$(ls "$own")"

# With `subprocesses` it has one of its own.
start control,subprocesses child
wait_until listens
echo >&9
wait_until test -s guest.out
child=$(cat guest.out)
child_listens() { "$cpprof" configure "$child" >/dev/null 2>&1; }
wait_until child_listens
"$cpprof" top "pid:$child/thread" >threads.txt || fail "the child does not answer"
answer status >/dev/null
end
wait_until is_over "$child"
wait_until none_is_left

# Children of every sort end as they should, and leave nothing.
for way in fork fork-_exit raw-fork grandchild vfork vfork-exec spawn system popen clone-vm daemon many; do
    expect_equal "children by $way" 42 "$(status env LIBPPROF=control,subprocesses LD_PRELOAD="$library" \
        timeout -s KILL 60 "$victims/children" $way 2>errors)"
    expect_equal "messages with $way" "" "$(cat errors)"
done
wait_until none_is_left

# A program that executes another one leaves nothing; one that fails to has its socket again.
start control exec "$(command -v cat)"
wait_until listens
echo >&9
wait_until test ! -e "$at"
end 0
start control exec "$work/nothing"
wait_until listens
echo >&9
wait_until has_text guest.err "nothing: No such file"
wait_until listens
expect_equal "pid after a failed exec" "pid $guest" "$(answer status | grep pid)"
end

# A program that closes its descriptors is left alone.
start control close
wait_until listens
echo >&9
wait_until has_text guest.err "control: the program has closed the socket"
wait_until test ! -e "$at"
end

# A program that becomes another user keeps it, for root; nobody may remove the file then but root.
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    start control user
    wait_until has_text guest.out "user 65534"
    wait_until listens
    "$cpprof" top "pid:$guest/thread" >threads.txt 2>&1 || fail "root, of another user's program: $(cat threads.txt)"
    end
    rm -f "$at"
fi

# A seccomp filter, which kills for every call of a server: the socket goes before it. The program's end is not of interest
# here (test_seccomp.sh): one that the server's thread had killed would leave the socket.
for way in prctl syscall listed; do
    env LIBPPROF=control LD_PRELOAD="$library" "$victims/confined" during $way >confined.txt 2>&1 || true
done
none_is_left || fail "a confined program has left its socket: $(ls "$own")"

# A signal ends the program and the socket; SIGKILL leaves a file, which cpprof does not take for a process.
start control
wait_until listens
kill -TERM "$guest"
end 143
expect_no_file "$at"
start control
wait_until listens
kill -KILL "$guest"
end 137
[ -S "$at" ] || fail "SIGKILL has removed the file"
expect_equal "a process that was killed" 1 "$(status "$cpprof" top "pid:$guest" 2>errors)"
expect_contains "a process that was killed" errors "there is no such process"
rm "$at"

# The program's own profiles are named.
guest env LIBPPROF=control LD_PRELOAD="$library" "$victims/push_work" custom
printf x >&9
wait_until has_text guest.out worked
expect_equal "its own profiles" "profiles kept_blocks" "$("$cpprof" configure "$guest" | grep profiles)"
end 0

# A path of one's own, also one that is longer than a socket's name may be; a file of others is left alone.
long=$work/$(printf '%0100d' 7)
mkdir "$long"
start "control=$long/%p-%e.sock"
at=$long/$guest-web_guest.sock
wait_until listens
"$cpprof" top "pid:$guest/heap" >heap.txt 2>&1 || fail "cpprof does not find control=PATH: $(cat heap.txt)"
end
expect_no_file "$at"
echo precious >"$work/file"
start "control=$work/file"
wait_until has_text guest.err "control: no socket: $work/file: another process listens there"
end
expect_equal "a file in the socket's place" precious "$(cat file)"
