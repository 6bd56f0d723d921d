#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 600
# nightly: 3
#
# test_http_hangups.sh: clients that hang up in each kind of request (test/e2e/http/hangups.py): what was collected for them
# ends, and nothing stays of it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need python3

hang_up() { # PORT PROCESS [guest]
    python3 -B "$SRC/test/e2e/http/hangups.py" "$@" 9>&- >failures || fail "$(cat failures)"
}

serve_guest heap,fd steady
port=${url#http://127.0.0.1:}
hang_up "${port%%/*}" "$server" guest
end_guest

# A program with a profile of its own.
mkfifo contract.in
"$linked/http_contract" <contract.in >port &
server=$!
started="$started $server"
exec 9>contract.in
wait_until test -s port
hang_up "$(cat port)" "$server"
exec 9>&-
wait "$server" || fail "http_contract ended with $?"
echo ok
