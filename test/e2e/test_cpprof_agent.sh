#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_agent.sh: cpprof agent finds the processes that have a control socket, as they come and go, lists them for
# people and for collectors, and answers for each of them.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/agent.sh
. "$SRC/test/e2e/agent.sh"
need python3 go

start_guest early control,heap:1,block:1,mutex:1
early=$guest
exec 9>guests.in
start_agent --listen 127.0.0.1:0
start_guest late control
late=$guest
wait_until has_target "$early"
wait_until has_target "$late"
expect_equal "services" "$(printf '%s early\n%s late' "$early" "$late" | sort -n)" "$(targets | sort -n)"

# ---- each is served under its number ----
get heap.pb.gz "/$early/debug/pprof/heap"
go tool pprof -raw heap.pb.gz >heap.txt 2>go.err || fail "$(cat go.err)"
expect_contains "the heap profile" heap.txt "inuse_space/bytes"
get cpu.pb.gz "/$late/debug/pprof/profile?seconds=1"
go tool pprof -raw cpu.pb.gz >cpu.txt 2>go.err || fail "$(cat go.err)"
expect_contains "the CPU profile" cpu.txt burn_cpu
get cmdline "/$late/debug/pprof/cmdline"
expect_equal "the command" "$own/web_guest" "$(tr -d '\0' <cmdline)"
"$cpprof" top -n 3 "$url/$early/debug/pprof/heap" >top.txt
expect_contains "a report of cpprof" top.txt inuse_space

# ---- collectors name it by a parameter, which does not fit another process that has the number ----
name=$(python3 -c 'import json, sys
print(next(group["labels"]["__param_process"] for group in json.load(open("targets.json"))
           if group["labels"]["process_pid"] == sys.argv[1]))' "$early")
get by_name "/debug/pprof/heap?debug=1&process=$name"
expect_contains "a profile by a parameter" by_name "heap profile:"
get by_name "/debug/pprof/heap?process=$name&debug=1"
expect_contains "a profile by the first parameter" by_name "heap profile:"
expect_equal "another process of the number" 404 "$(status_of "/debug/pprof/heap?process=${name}0")"
expect_equal "no process" 404 "$(status_of /debug/pprof/heap)"
expect_equal "a process that is not there" 404 "$(status_of /1/debug/pprof/heap)"

# ---- what is not handed on ----
expect_equal "the control socket's own paths" 404 "$(status_of "/$early/control/status")"
expect_equal "a profile that there is not" 404 "$(status_of "/$early/debug/pprof/nonsense")"
expect_equal "a method" 405 "$(status_of /targets -X POST)"

# ---- a program that shows a title, as servers do, has its own name ----
python3 -c 'import os, sys
os.execve(sys.argv[1], [sys.argv[1] + " *:7391"], dict(os.environ, LIBPPROF="control", LD_PRELOAD=sys.argv[2]))' \
    "$own/web_guest" "$library" <guests.in >title.out 2>title.err &
titled=$!
started="$started $titled"
wait_until has_target "$titled"
expect_equal "the service of a program with a title" "$titled web_guest" "$(targets | grep "^$titled ")"

# ---- an end is seen at once, and the others stay ----
kill -KILL "$early"
wait_until has_no_target "$early"
has_target "$late" || fail "the other process is not served any more"
end_agent
