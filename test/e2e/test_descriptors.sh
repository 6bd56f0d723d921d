#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 400
#
# test_descriptors.sh: a program closes all descriptors and takes their numbers while profiles of every kind are written.
# Its files keep their content, its descriptors stay open, and new ones have the lowest numbers. Whoever reads its pipes
# sees their end, and its ports are free when it has closed them.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need timeout gzip

kinds=cpu:1000,heap:4k,block:1,mutex:1,thread,fd
content="the program's own"

# run_victim NAME OPTIONS ARGUMENTS...: in a folder of its own, with profiles in NAME/profiles.
run_victim() {
    what=$1
    run_options=$2
    shift 2
    mkdir -p "$what/profiles"
    (cd "$what" && timeout -s KILL 100 env LD_PRELOAD="$library" \
        LIBPPROF="$run_options,file=$work/$what/profiles/%k.%n.pb.gz" "$victims/takes_numbers" "$@" >out 2>err) ||
        fail "$what: $(cat "$what/out"; head -n 5 "$what/err")"
    expect_equal "messages of $what" "" "$(cat "$what/err")"
}

# expect_profiles NAME: whole ones, of every kind.
expect_profiles() {
    for kind in cpu heap block mutex thread fd; do
        found=$(find "$1/profiles" -name "$kind.*.pb.gz")
        [ -n "$found" ] || fail "$1: no $kind profile"
    done
    find "$1/profiles" -name '*.pb.gz' -exec gzip -t {} + || fail "$1: a profile is not whole"
    expect_equal "files of $1 that are left over" "" "$(find "$1/profiles" -name '*.tmp.*')"
}

# On a thread of the library.
run_victim interval "$kinds,interval=10ms" run own 600
expect_equal "descriptors beside interval=" "0 closed, 0 not the lowest, 0 changed" "$(cat interval/out)"
expect_profiles interval

# On a thread of the program, which ends the process, while another one goes on.
for turn in 1 2 3 4 5 6 7 8; do
    run_victim "exit$turn" "$kinds" exit own 20
    expect_equal "the program's file after its end" "$content" "$(cat "exit$turn/own")"
    expect_profiles "exit$turn"
done

# A server, whose sockets have high numbers, answers while the program closes and takes the low ones.
run_victim server "$kinds,http=unix:$work/socket" run own 2000 99 &
server=$!
answers=0
while kill -0 "$server" 2>/dev/null; do
    ! "$BUILD/bin/cpprof" raw "unix:$work/socket:/debug/pprof/heap" >raw.txt 2>>raw.err || answers=$((answers + 1))
done
wait "$server" || exit 1
expect_equal "descriptors beside a server" "0 closed, 0 not the lowest, 0 changed" "$(cat server/out)"
[ "$answers" -gt 0 ] || fail "the server gave no answer: $(tail -n 3 raw.err)"

# On threads of the program that ask for profiles. Each of their calls has an answer.
mkdir api
(cd api && timeout -s KILL 100 "$linked/asks_while_closed" own 300 >out 2>err) ||
    fail "calls of the API: $(cat api/out api/err)"
expect_equal "descriptors beside calls of the API" "0 closed, 0 not the lowest, 0 changed" "$(cat api/out)"

# The log is a file.
run_victim log "alloctrace,log=$work/log.txt" run own 20
expect_equal "descriptors beside alloctrace" "0 closed, 0 not the lowest, 0 changed" "$(cat log/out)"
grep -q tracealloc log.txt || fail "alloctrace wrote nothing"

# A reader of the program's output sees its end while the program goes on.
mkdir pipe
(cd pipe && exec env LD_PRELOAD="$library" LIBPPROF="$kinds,interval=10ms,file=$work/pipe/%k.%n.pb.gz" \
    "$victims/takes_numbers" eof "$work/seen" 2>err) | {
    cat
    : >"$work/seen"
}
[ ! -e seen.late ] || fail "the reader of the pipe saw no end"

# A port is free when the socket that listened at it is closed.
run_victim bind "$kinds,interval=10ms" bind 20000
expect_equal "calls of bind" "0 failed" "$(cat bind/out)"

# The table is the program's own at every moment.
if command -v python3 >/dev/null && ! is_musl "$library"; then # whose python3 the distribution's is not
    cat >lists.py <<'PY'
import os, subprocess, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
def of_child():
    return subprocess.run(["ls", "/proc/self/fd"], stdout=subprocess.PIPE, close_fds=False).stdout
print(len({tuple(os.listdir("/proc/self/fd")) for _ in range(5000)}), len({of_child() for _ in range(50)}))
PY
    mkdir -p python
    timeout -s KILL 100 env LD_PRELOAD="$library" LIBPPROF="$kinds,interval=10ms,file=$work/python/%k.%n.pb.gz" \
        python3 lists.py >python.out 2>python.err ||
        fail "python3: $(head -n 5 python.err)"
    expect_equal "different lists of descriptors" "1 1" "$(cat python.out)"
fi
if command -v python3 >/dev/null; then
    # Messages of the library's thread reach stderr, also if it is a socket, which no path opens.
    cat >messages.py <<'PY'
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
child = subprocess.Popen([sys.argv[1], "eof", "none"], stderr=theirs, stdout=subprocess.DEVNULL,
                         env=dict(os.environ, LD_PRELOAD=sys.argv[2], LIBPPROF=sys.argv[3]))
theirs.close()
text = b""
piece = b" "
while piece and b"could not be written" not in text:
    piece = ours.recv(4096)
    text += piece
child.kill()
child.wait()
sys.exit(not piece)
PY
    timeout -s KILL 100 python3 messages.py "$victims/takes_numbers" "$library" "heap,interval=10ms,file=$work/none/%n" ||
        fail "no message on a socket"
fi
echo ok
