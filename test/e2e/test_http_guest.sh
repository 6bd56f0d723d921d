#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 2
#
# test_http_guest.sh: a program with a server in it does what it does without: it forks, executes, closes all descriptors,
# has none left, becomes another user, ends its first thread. What becomes of the server is in docs/HTTP.md.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3

answers() { python3 "$ask" "$url/cmdline" 2>/dev/null | sed -n 1p | grep -qx 200; }
is_deaf() { ! answers; }
threads() { ls "/proc/$server/task" | wc -l; }

# All but SIGKILL and SIGSTOP, and the two that libc never blocks.
blocked=fffffffe7ffbfeff
! is_musl "$library" || blocked=fffffffcfffbfeff
# One thread more, which blocks all signals; descriptors above those that programs expect.
serve_guest fd,heap:1
expect_equal "threads: the program's and the server's" 6 "$(threads)"
for task in /proc/"$server"/task/*; do
    [ "$(cat "$task/comm")" = libpprof-http ] || continue
    expect_equal "signals that the server's thread blocks" $blocked "$(sed -n 's/^SigBlk:[[:space:]]*//p' "$task/status")"
    server_thread=${task##*/}
done
[ -n "${server_thread-}" ] || fail "there is no thread libpprof-http"
for fd in /proc/"$server"/task/*/fd/*; do
    case $(readlink "$fd") in
    socket:*) [ "${fd##*/}" -ge 200 ] || fail "the server has the descriptor ${fd##*/}" ;;
    esac
done
# No profile shows the thread, its descriptors or its work.
get threads.txt '/thread?debug=2'
! grep -q "thread $server_thread \|libpprof-http" threads.txt || fail "the profile shows the server: $(cat threads.txt)"
expect_equal "threads in the profile" 5 "$(grep -c '^thread ' threads.txt)"
get fd.txt '/fd?debug=1'
! grep -q 'pprof_http\|server_run\|address_listen' fd.txt || fail "the profile fd shows the server: $(cat fd.txt)"
get heap.txt '/heap?debug=1'
get heap.txt '/heap?debug=1'
! grep -q 'server_run\|connection_\|pprof_http' heap.txt || fail "the profile heap shows the server: $(cat heap.txt)"
ls -d "/proc/$server"/task/*/fd/* | sort >before
get fds.pb.gz /fd
wait_until sh -c "ls -d /proc/$server/task/*/fd/* | sort | cmp -s before -"
# An idle server: a look a second.
end_guest

# fork: the child has none of the server's descriptors; the parent's goes on.
serve_guest '' fork
echo >&9
wait_until has_text server.out child:
expect_equal "the child closes the one that it has" "child: 1 descriptors fewer" "$(cat server.out)"
wait_until answers
end_guest

# All descriptors are closed, and the program's own listening socket has their numbers. The server's are in another table.
serve_guest '' close
echo >&9
wait_until has_text server.out closed
answers || fail "the program has closed the server's socket"
expect_equal "messages" 1 "$(grep -c . server.err)"
end_guest

# The server stays in the program's table beside perf events: the program's socket serves nobody.
serve_guest cpu,engine=perf close
echo >&9
wait_until has_text server.out closed
wait_until has_text server.err "the program has closed the server's socket"
wait_until is_deaf
expect_equal "threads after the end of the server" 5 "$(threads)"
end_guest

# No descriptor is left: the server needs none of them.
serve_guest '' full
wait_until has_text server.out full
answers || fail "no answer while the program has no descriptor left"
echo >&9
wait_until has_text server.out "given back"
end_guest

# In the program's table nobody is accepted, the program does not notice, and the server is there afterwards.
serve_guest cpu,engine=perf full
wait_until has_text server.out full
python3 "$ask" "$url/cmdline" >late.answer 2>/dev/null 9>&- &
late=$!
echo >&9
wait_until has_text server.out "given back"
wait "$late" || fail "the request was not answered after the program had given descriptors back"
expect_equal "status of the request that waited" 200 "$(sed -n 1p late.answer)"
end_guest

# Another program: the port is free.
serve_guest '' exec /bin/cat
echo >&9
wait_until is_deaf
end_guest 0

# The first thread ends: the server goes on, and then does not keep the process.
serve_guest '' threads
wait_until answers
end_guest 0

# Another user, if this is root.
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    serve_guest '' user
    wait_until has_text server.out "user 65534"
    wait_until answers
    get threads.txt '/thread?debug=2'
    expect_equal "threads in the profile of another user" 5 "$(grep -c '^thread ' threads.txt)"
    end_guest
fi

# A seccomp filter, which kills for what the server does: the server ends first, also while clients ask without a break.
cat >client.py <<'PYTHON'
import socket, sys
print("begins", flush=True)
answers = 0
while True:
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(sys.argv[1])
            client.sendall(b"GET /debug/pprof/cmdline HTTP/1.0\r\nHost: localhost\r\n\r\n")
            answers += len(client.recv(4096)) > 0
    except OSError:
        pass
    if answers == 1:
        open(sys.argv[2], "w").close()
PYTHON
if [ "$(status "$victims/confined" during prctl)" = 42 ]; then
    for way in prctl syscall; do
        python3 client.py "$work/confined.sock" "$work/answered.$way" >client.out &
        client=$!
        started="$started $client"
        wait_until has_line client.out begins
        expect_equal "status of a program that confines itself by $way" 42 \
            "$(status preload "http=unix:$work/confined.sock" "$victims/confined" during $way "$work/answered.$way" 2>confined.err)"
        kill "$client"
        expect_no_file confined.sock
    done
fi

# A program that is linked to libpprof-http starts and stops it again and again, and forks with it.
expect_equal "what http_again says" "ok" "$(status "$linked/http_again" 2>again.err | sed -n 1p)"
echo ok
