#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 2
#
# test_http_slow.sh: clients that take their answers slowly or not at all, also answers that are larger than what the server
# keeps in memory: the program and other clients go on, answers are whole, and nothing stays.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3

# slow WHAT...: with the server at $url, which is in $server.
slow() {
    slow_port=${url#http://127.0.0.1:}
    python3 -B "$SRC/test/e2e/http/slow.py" "${slow_port%%/*}" "$server" "$@" 9>&- >failures || fail "$*: $(cat failures)"
}

serve_guest '' steady
slow never
slow busy
end_guest

# A text of threads that is longer than 64 MiB.
guest=deep_threads
serve_guest '' 1200 1000
wait_until test -s server.out
[ "$(cat server.out)" = ready ] || skip "$(cat server.out)"
slow deep 1200 1000
end_guest
echo ok
