#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_control_security.sh: the control socket hears its user and root, and nobody else; a folder that somebody else could
# change is not used; hostile, many and slow clients change nothing. cpprof speaks to no process but the one it was told.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3 setpriv
as_root "to be two users"
cpprof=$(for_everybody "$BUILD/bin/cpprof")
guest_program=$(for_everybody "$victims/web_guest")
library=$(for_everybody "$library")
for_everybody "$BUILD/lib/libpprof-http.so.0" >/dev/null
ask=$(for_everybody "$SRC/test/e2e/control/ask.py")
clients=$(for_everybody "$SRC/test/e2e/control/clients.py")
# Numbers that no user of this machine has, nor another run of this script.
alice=$((1000000 + 2 * $$)) bob=$((1000001 + 2 * $$))
last=/tmp/pprof-$alice # where the socket is if XDG_RUNTIME_DIR does not do
trap 'finish; rm -rf "$last"' EXIT
python=/usr/bin/python3 # what others can run: the first one of PATH may be in somebody's home

as() { # USER COMMAND...
    as_user=$1
    shift
    setpriv --reuid="$as_user" --regid="$as_user" --clear-groups env XDG_RUNTIME_DIR="$runtime" "$@"
}

# answers PID: the process listens on its socket.
answers() { "$cpprof" configure "$1" >/dev/null 2>&1; }

runtime=$work/run
as $bob "$python" -c '' 2>/dev/null || skip "no $python that every user may run"

# start USER [OPTIONS]: a program that works until `end`; $guest is its process.
start() {
    guest setpriv --reuid="$1" --regid="$1" --clear-groups env XDG_RUNTIME_DIR="$runtime" LIBPPROF="control${2+,$2}" \
        LD_PRELOAD="$library" "$guest_program"
}

end() {
    ends_with 7 "$guest"
}

install -d -o $alice -g $alice -m 700 run
at() { echo "$runtime/pprof/$guest.sock"; }

# ---- its user, root, another user ----

start $alice
wait_until answers "$guest"
expect_equal "its user" 200 "$(as $alice "$python" "$ask" "$(at)" status | sed -n 1p)"
expect_equal "root" 200 "$(as 0 "$python" "$ask" "$(at)" status | sed -n 1p)"
as 0 "$cpprof" top "pid:$guest/heap" >root.txt 2>&1 || fail "root, by cpprof: $(cat root.txt)"
expect_equal "another user, by cpprof" 1 "$(status as $bob "$cpprof" top "pid:$guest/heap" 2>bob.txt)"
expect_contains "another user, by cpprof" bob.txt "the process of another user"
if as $bob "$python" "$ask" "$(at)" status >bob.txt 2>&1; then
    fail "another user is answered: $(cat bob.txt)"
fi
expect_contains "another user" bob.txt PermissionError

# Even if the modes let everybody in, the kernel says who it is: nothing is answered.
chmod 755 "$runtime" "$runtime/pprof"
chmod 777 "$(at)"
cat >open.py <<'EOF2'
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
try:
    client.sendall(b"GET /control/status HTTP/1.0\r\n\r\n")
    data = client.recv(100)
except (BrokenPipeError, ConnectionResetError):
    data = b""
print(len(data))
EOF2
expect_equal "bytes for another user who can connect" 0 "$(as $bob "$python" "$(for_everybody open.py)" "$(at)")"
expect_equal "its user, still" 200 "$(as $alice "$python" "$ask" "$(at)" status | sed -n 1p)"

# cpprof ps of another user: the process is named, and nothing of it.
as $bob "$cpprof" ps >ps.txt 2>&1 || fail "ps: $(cat ps.txt)"
grep "^ *$guest " ps.txt >row.txt || fail "no row of the process in: $(cat ps.txt)"
expect_contains "ps of another user" row.txt "not reachable: other user"
end

# ---- hostile clients ----

chmod 700 "$runtime" "$runtime/pprof"
start $alice heap:1
wait_until answers "$guest"
as $alice "$python" "$clients" "$(at)" "$guest" >failures 2>&1 || fail "$(cat failures)"
end

# ---- folders that are not used ----

# refuses WHAT TEXT: the program has no socket, and the log says why.
refuses() {
    start $alice
    wait_until has_text guest.err "control: no socket:"
    expect_contains "$1" guest.err "$2"
    end
}
rm -rf "$runtime/pprof"
install -d -o $bob -g $bob -m 700 "$work/trap"
ln -s "$work/trap" "$runtime/pprof"
ln -s "$work/trap" "$last"
refuses "a symbolic link" "$last: expected a folder, found something else"
rm "$last"
install -d -o $bob -g $bob -m 777 "$last"
refuses "a folder of another user" "$last: another user has made this folder"
rm -rf "$last"
install -d -o $alice -g $alice -m 777 "$last"
refuses "a folder for everybody" "$last: this folder is open to others: chmod 700 it"
rm -rf "$last"
echo no folder >"$last"
refuses "a file" "$last: expected a folder, found something else"
rm -rf "$last"
expect_equal "what is in the trap" "" "$(ls "$work/trap")"

# Where XDG_RUNTIME_DIR does not do, /tmp does.
start $alice
wait_until answers "$guest"
expect_equal "mode of the folder in /tmp" "700 $alice" "$(stat -c '%a %u' "$last")"
as 0 "$cpprof" top "pid:$guest/thread" >root.txt 2>&1 || fail "root, by cpprof: $(cat root.txt)"

# ---- cpprof is not deceived ----

# Another process listens under the name of this one's socket.
mv "$last/$guest.sock" "$last/away"
setpriv --reuid=$alice --regid=$alice --clear-groups "$python" -c 'import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("listens", flush=True)
time.sleep(600)' "$last/$guest.sock" >impostor.out &
impostor=$!
started="$started $impostor"
wait_until has_line impostor.out listens
expect_equal "an impostor" 1 "$(status as 0 "$cpprof" top "pid:$guest/thread" 2>root.txt)"
expect_contains "an impostor" root.txt "no control socket"
kill "$impostor"
rm -rf "$last/$guest.sock"
end
rm -rf "$last"

# ---- namespaces ----

# A process in a container: it sees itself as another number, as root, and another file system.
contained() { # COMMAND...
    setpriv --reuid=$alice --regid=$alice --clear-groups unshare --user --map-root-user --mount --pid --fork --mount-proc "$@"
}
if contained true 2>/dev/null; then
    mkfifo contained.in
    contained sh -c 'mount -t tmpfs none /mnt && exec env "$@"' sh LIBPPROF=control,heap:1 LD_PRELOAD="$library" \
        XDG_RUNTIME_DIR=/mnt "$guest_program" <contained.in >contained.out 2>&1 &
    outer=$!
    started="$started $outer"
    exec 9>contained.in
    inner_of() { inner=$(pgrep -u "$alice" -x web_guest); }
    wait_until inner_of
    wait_until answers "$inner"
    expect_no_file /mnt/pprof
    as 0 "$cpprof" top "pid:$inner/heap" >root.txt 2>&1 || fail "root, into a container: $(cat root.txt)"
    expect_contains "root, into a container" root.txt keep_memory
    as 0 "$cpprof" ps >ps.txt 2>&1
    grep "^ *$inner .* control " ps.txt >/dev/null || fail "ps, into a container: $(cat ps.txt)"
    exec 9>&-
fi
