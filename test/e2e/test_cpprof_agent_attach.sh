#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent_attach.sh: cpprof agent --attach makes processes reachable that were started without libpprof, if their
# commands match, and leaves the others alone.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"
need python3
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ] || as_root "to attach to a process that is no child"

mkfifo guests.in
"$own/web_guest" steady <guests.in >guest.out 2>guest.err &
wanted=$!
"$own/web_guest" <guests.in >guest.out 2>guest.err &
other=$!
started="$started $wanted $other"
exec 9>guests.in
start_agent --listen 127.0.0.1:0 --attach 'web_guest steady' --record cpu=shared,heap:64k
wait_until has_target "$wanted"
get heap.pb.gz "/$wanted/debug/pprof/heap"
expect_equal "what it records" "cpu heap:65536" "$("$cpprof" configure "$wanted" | sed -n 's/^on //p')"
! grep -q libpprof "/proc/$other/maps" || fail "the agent has attached to a process that does not match"
end_agent

# It stays reachable for the next agent.
start_agent --listen 127.0.0.1:0
wait_until has_target "$wanted"
has_no_target "$other" || fail "the other process is listed"
end_agent
"$cpprof" configure "$wanted" detach || fail "it cannot be detached from"
exec 9>&-
