#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_troubles.sh: cpprof agent --push while the server is busy, slow, answers nonsense, sends it elsewhere or has the wrong
# certificate, while the disk is full, and when the clock is set back: it goes on, nothing is lost, and the token is nowhere to be
# read.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"
need openssl cc

token=a-secret-of-many-letters
echo $token >token
certificate here IP:127.0.0.1
certificate there DNS:elsewhere.example
export SSL_CERT_FILE="$work/here.pem" # for answer_next
receive pyroscope taken --token $token --tls "$work/here.pem" "$work/here.key"
server=$url
next() { (url=$server && answer_next "$1"); }
agent() { # CERTIFICATE
    start_agent --listen 127.0.0.1:0 --push "$server" --to pyroscope --interval 1s --state "$work/state" \
        --push-token-file "$work/token" --ca-file "$work/$1.pem"
}
has_said() { [ "$(grep -cF -- "$1" agent.err)" -ge "$2" ]; } # TEXT TIMES
has_more() { [ "$(received taken)" -ge $((before + 8)) ]; }
takes_more() {
    before=$(received taken)
    wait_until has_more
}

start_guest shop control,heap:1,mutex:1,thread
exec 9>guests.in

# ---- a certificate that is not trusted ----
agent there
wait_until grep -qi 'will try again.*\(certificate\|SSL\)' agent.err
end_agent
[ ! -e taken/received.jsonl ] || fail "something was sent: $(cat taken/received.jsonl)"

# ---- the server takes nothing for a while ----
agent here
takes_more
again=$(grep -c "takes profiles again" agent.err || true)
while read -r words trouble; do
    again=$((again + 1))
    next "{\"times\": 2, $trouble}"
    wait_until has_said "takes profiles again" $again
    grep "will try again" agent.err | tail -n 1 >last
    [ "$words" = any ] || grep -q "$words" last || fail "$trouble: it says: $(cat last)"
done <<'END'
answers.429 "status": 429, "retry_after": 1
answers.500 "status": 500
not.that.of "status": 200, "body": "<html>"
elsewhere "redirect": "http://127.0.0.1:1"
any "garbage": true
any "close": "before"
END
# A slow one keeps nobody else waiting.
next '{"times": 1, "slow": 5}'
has_target "$guest" || fail "the agent does not answer while the server is slow"
takes_more
! tr '\0' ' ' <"/proc/$agent/cmdline" | grep $token || fail "the token is in the agent's arguments"
! cat /proc/"$agent"/task/*/comm | grep $token || fail "the token is in a thread's name"
end_agent

# ---- the disk is full ----
mkfifo full.err
cat full.err >full.txt &
started="$started $!"
# shellcheck disable=SC2016
sh -c 'ulimit -f 1; exec "$@"' - "$cpprof" agent --only "^$own/" --push "$server" --to pyroscope --interval 1s \
    --state "$work/state" --push-token-file "$work/token" --ca-file "$work/here.pem" 2>full.err &
agent=$!
started="$started $agent"
wait_until has_text full.txt "nothing more is pushed until it can be"
end_agent

# ---- it goes on, and all adds up ----
agent here
takes_more
end_agent
kill -TERM "$guest"
wait "$guest" || true
truth=$work/truth
cp -r "state/last/$(id -u)" "$truth"
agent here
is_taken() { [ -z "$(find state/last state/spool -type f)" ]; }
wait_until is_taken
end_agent
expect_equal "what the receiver did not like" "" "$(refused taken)"
expect_taken cpu process_cpu cpu samples
expect_taken heap memory alloc_space alloc_objects
! grep lost agent.err full.txt || fail "something is lost"
! grep -r $token agent.err agent.out full.txt state || fail "the token is written somewhere"
stop_receiver

# ---- the clock is set back by an hour ----
cat >back.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
/* An hour less, once there is a file "back". */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int status = real(clock, now);
    if (clock == CLOCK_REALTIME && access("back", F_OK) == 0) {
        now->tv_sec -= 3600;
    }
    return status;
}
time_t time(time_t *seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return seconds ? (*seconds = now.tv_sec) : now.tv_sec;
}
C
cc -shared -fPIC -o back.so back.c -ldl
receive pyroscope clock --any-time
server=$url
start_guest shop control,heap:1
exec 9>guests.in
agent_preload=$work/back.so
start_agent --push "$server" --to pyroscope --interval 1s --state "$work/state" --listen 127.0.0.1:0
wait_until has_received clock process_cpu 2
first=$(received clock process_cpu)
touch back
wait_until has_received clock process_cpu $((first + 3))
end_agent
expect_equal "what the receiver did not like" "" "$(refused clock)"
python3 - clock/received.jsonl <<'END' || fail "times: $(cat times)"
import json, sys, time
times = [(line["time_nanos"], line["duration_nanos"]) for line in map(json.loads, open(sys.argv[1])) if line["labels"]["__name__"] == "process_cpu"]
print(times, file=open("times", "w"))
now = time.time_ns()
back = [one for one in times if one[0] < now - 3000 * 10**9]
assert back and len(back) < len(times)
assert all(0 < lasts < 600 * 10**9 for _, lasts in times)
END
