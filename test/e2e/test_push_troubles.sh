#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_push_troubles.sh: a process with push= while the server is busy, answers nonsense, sends it elsewhere, is not there or has the
# wrong certificate, and while the disk is full: the program notices nothing, nothing is lost that can wait, what is lost is
# said, and the token is nowhere to be read.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"
need openssl

token=a-secret-of-many-letters
echo $token >token
count_of() { grep -cF -- "$1" guest.err || true; }
has_said() { [ "$(count_of "$1")" -ge "$2" ]; } # TEXT TIMES
works() {
    printf x >&9
    worked=$((worked + 1))
    wait_until has_worked
}
has_worked() { [ "$(grep -c worked guest.out)" -ge "$worked" ]; }
# ends: the program's end is what it would have been, and it has printed what it would have.
ends() {
    ends_with 0 "$guest"
    expect_equal "the program's output" "$worked" "$(grep -cx worked guest.out)"
    expect_equal "other words on its stderr" "" "$(grep -v '^libpprof: push: ' guest.err || true)"
    ! grep -r $token guest.out guest.err spool 2>/dev/null || fail "the token is written somewhere"
}
limit=unlimited # of the size of the program's files
begins() { # OPTIONS [VARIABLE=VALUE...]
    worked=0 options=$1
    shift
    # shellcheck disable=SC2016
    guest sh -c "ulimit -f $limit"' && exec "$@"' - env "$@" LIBPPROF="push=$url,push-to=pyroscope,push-token=$work/token,interval=200ms,heap:1,mutex,thread,$options" \
        LD_PRELOAD="$library" "$victims/push_work"
}
is_told() { ! tr '\0' ' ' <"/proc/$guest/cmdline" | grep -q $token && ! cat /proc/"$guest"/task/*/comm | grep -q $token; }
# expect_all FOLDER: what came is what the program's files have. On a busy machine the answer to the last request comes when the program
# is gone: the spool has these profiles, and the receiver does not take them again.
expect_all() {
    expect_equal "what the receiver does not like" "" "$(refused "$1" | grep -v 'no profile' || true)"
    "$cpprof" push --wait 60s --spool "$work/spool" --token-file token "$url" 2>push.err || grep -q 'is sent again' push.err || fail "$(cat push.err)"
    for type in alloc_objects alloc_space; do
        expect_equal "$1: $type" "$(total $type end.heap.pb.gz)" "$(sent "$1" $type)"
    done
    ! grep lost guest.err || fail "$1: something is lost"
}

# ---- the server takes nothing for a while ----
receive pyroscope troubles --token $token
begins "file=end.%k.pb.gz,push-spool=$work/spool"
works
wait_until has_received troubles memory 2
again=0
while read -r words trouble; do
    again=$((again + 1))
    answer_next "{\"times\": 2, $trouble}"
    works
    wait_until has_said "takes profiles again" $again
    grep "will try again" guest.err | tail -n 1 >last
    [ "$words" = any ] || grep -q "$words" last || fail "$trouble: it says: $(cat last)"
done <<'END'
answers.429 "status": 429, "retry_after": 1
answers.500 "status": 500
answers.503 "status": 503
not.that.of "status": 200, "body": "<html>"
elsewhere "redirect": "http://127.0.0.1:1"
any "garbage": true
any "close": "before"
END
answer_next '{"times": 1, "slow": 2}'
works
is_told || fail "the token is in the process's arguments or in a thread's name"
ends
expect_all troubles

# ---- the disk is full: what the spool cannot take waits in memory ----
# The limit of the size of files is less than what one profile has with these labels.
long=$(printf '%1900s' '' | tr ' ' x)
receive pyroscope full --token $token
for kind in heap mutex thread; do
    mkfifo end.$kind.fifo
    cat end.$kind.fifo >end.$kind.pb.gz &
    started="$started $!" reads="${reads-} $!"
done
answer_next '{"times": 1000, "status": 503}'
limit=4
begins "file=end.%k.fifo,push-spool=$work/spool" "OTEL_RESOURCE_ATTRIBUTES=a=$long,b=$long"
works
wait_until has_said "the spool cannot be written" 1
works
answer_next '{"times": 0}'
wait_until has_said "takes profiles again" 1
ends
limit=unlimited
# shellcheck disable=SC2086
wait $reads
expect_all full
stop_receiver

# ---- nobody takes anything until the end ----
begins "push-ca=$work/token" # that is no certificate, and here is no server
works
ends
expect_contains "no server" guest.err "will try again"
expect_contains "no server" guest.err "lost: they could not be sent before the end"
certificate here IP:127.0.0.1
certificate there DNS:elsewhere.example
receive pyroscope other --token $token --tls "$work/there.pem" "$work/there.key"
for ca in here there; do
    begins "push-ca=$work/$ca.pem"
    works
    ends
    grep -qi 'certificate\|SSL' guest.err || fail "a wrong certificate: $(cat guest.err)"
    expect_contains "a wrong certificate" guest.err "lost: they could not be sent before the end"
done
[ ! -e other/received.jsonl ] || fail "something was sent: $(cat other/received.jsonl)"

# ---- nothing is recorded: that is said, once ----
receive pyroscope nothing --token $token
guest preload "push=$url,push-to=pyroscope,push-token=$work/token,interval=200ms" "$victims/push_work"
worked=0
wait_until has_said "nothing is recorded, so nothing is sent" 1
works
ends
expect_equal "how often it is said" 1 "$(count_of "nothing is recorded")"
