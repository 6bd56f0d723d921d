#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_push.sh: what cpprof agent --push sends of a program adds up to the program's last profiles, to the unit,
# over restarts of the agent and of the server, and if the program ends while there is no agent.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/push_receiver.sh
. "$SRC/test/e2e/push_receiver.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"

start_receiver taken
server=$url
start_guest shop control,heap:1,block:1,mutex:1,thread
exec 9>guests.in
agent() { start_agent --listen 127.0.0.1:0 --push "$server" --to pyroscope --interval 1s --state "$work/state"; }
count() { ls taken/*.pb 2>/dev/null | wc -l; }
has_more() { [ "$(count)" -ge $((before + 12)) ]; }
takes_more() {
    before=$(count)
    wait_until has_more
}

agent
takes_more
expect_equal "what is recorded" "cpu thread heap:1 block:1 mutex:1" "$("$cpprof" configure "$guest" | sed -n 's/^on //p')"
get now.pb.gz "/$guest/debug/pprof/profile?seconds=1" # people still have theirs
end_agent

# ---- another agent goes on where the first one has stopped; the server is away for a while ----
agent
takes_more
yes 503 | head -n 30 >taken/plan
end_agent
agent
is_refused() { [ "$(grep -c ' 503 ' taken/requests)" -gt 2 ]; }
wait_until is_refused
end_agent
[ -n "$(ls state/spool)" ] || fail "what the server has not taken is not in the spool"
rm -f taken/plan
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
for type in cpu samples alloc_space alloc_objects; do
    expect_equal "$type" "$(total $type "$truth"/*.pb.gz)" "$(total $type taken/*.pb)"
done
# Waits that go on at the end are in the last profile only.
printf '#!/bin/sh\nexec "%s" "$@" --tagignore state=waiting\n' "$cpprof" >over.sh
chmod +x over.sh
over() { (cpprof=$work/over.sh && total "$@"); } # TYPE FILE...: of waits that are over
named() { # NAME: the profiles of a name
    for named_file in taken/*.json; do
        [ "$(label __name__ "$named_file")" != "$1" ] || echo "${named_file%.json}.pb"
    done
}
for kind in block mutex; do
    # shellcheck disable=SC2046 # one word for each file
    expect_equal "delay of $kind" "$(over delay "$truth"/*-$kind-*.pb.gz)" "$(total delay $(named $kind))"
done
for taken in taken/*.json; do
    expect_equal "the service" shop "$(label service_name "$taken")"
    expect_equal "the host" "$(uname -n)" "$(label host_name "$taken")"
done
