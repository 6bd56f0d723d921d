#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_push.sh: what cpprof agent --push sends of a program adds up to the program's last profiles, to the unit,
# over restarts of the agent and of the server, and if the program ends while there is no agent.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"

receive pyroscope taken
server=$url
start_guest shop control,heap:1,block:1,mutex:1,thread,wall
exec 9>guests.in
agent() { start_agent --listen 127.0.0.1:0 --push "$server" --to pyroscope --interval 1s --state "$work/state"; }
count() { received taken; }
has_more() { [ "$(count)" -ge $((before + 12)) ]; }
takes_more() {
    before=$(count)
    wait_until has_more
}

agent
takes_more
expect_equal "what is recorded" "wall cpu thread heap:1 block:1 mutex:1" "$("$cpprof" configure "$guest" | sed -n 's/^on //p')"
get now.pb.gz "/$guest/debug/pprof/profile?seconds=1" # people still have theirs
end_agent

# ---- another agent goes on where the first one has stopped; the server is away for a while ----
agent
takes_more
url=$server
answer_next '{"times": 1000, "status": 503}'
end_agent
agent
is_refused() { grep -q 503 agent.err; }
wait_until is_refused
end_agent
[ -n "$(ls state/spool)" ] || fail "what the server has not taken is not in the spool"
url=$server
answer_next '{"times": 0}'
agent
takes_more
end_agent

# ---- the program ends while there is no agent; the next one takes its files ----
kill -TERM "$guest"
wait "$guest" || true
truth=$work/truth
cp -r "state/last/$(id -u)" "$truth"
agent
is_taken() { [ -z "$(ls "state/last/$(id -u)")" ]; }
wait_until is_taken
end_agent
agent # what the one before has not sent is in the spool
is_sent() { [ -z "$(ls state/spool)" ]; }
wait_until is_sent
end_agent
expect_equal "no tally is left" "" "$(find state -name "*.tally")"

# ---- all of it ----
expect_equal "what the receiver did not like" "" "$(refused taken)"
expect_taken cpu process_cpu cpu samples
expect_taken wall wall wall samples
expect_taken heap memory alloc_space alloc_objects
# Waits that go on at the end are in the last profile only.
printf '#!/bin/sh\nexec "%s" "$@" --tagignore state=waiting\n' "$cpprof" >over.sh
chmod +x over.sh
over() { (cpprof=$work/over.sh && total "$@"); } # TYPE FILE...: of waits that are over
for kind in block mutex; do
    expect_equal "delay of $kind" "$(over delay "$truth"/*-$kind-*.pb.gz)" "$(sent taken delay $kind)"
done
expect_equal "the service" shop "$(sent_label taken 1 service_name)"
expect_equal "the host" "$(uname -n)" "$(sent_label taken 1 host_name)"
