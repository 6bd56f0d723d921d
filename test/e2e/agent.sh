# shellcheck shell=sh disable=SC2034,SC2154 # scripts use the variables; lib.sh has others
# SPDX-License-Identifier: MIT
#
# agent.sh: what the scripts about `cpprof agent` share. A script includes it after lib.sh.

cpprof=$BUILD/bin/cpprof
ask=$SRC/test/e2e/http/ask.py
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

# Programs of the test have a path of their own, so that its agent leaves those of other tests alone.
own=$work/own
mkdir -m 755 "$own"
chmod 711 "$work"
install -m 755 "$victims/web_guest" "$own/web_guest"

# start_agent OPTIONS...: $agent is its process, $url "http://127.0.0.1:PORT", or what it prints. $agent_preload: a library
# for it alone.
agent_preload=
start_agent() {
    rm -f agent.out
    env ${agent_preload:+LD_PRELOAD="$agent_preload"} "$cpprof" agent --only "^$own/" "$@" >agent.out 2>>agent.err &
    agent=$!
    started="$started $agent"
    wait_until has_line agent.out
    url=$(sed -n '1s|/$||p' agent.out)
}

has_line() { [ -s "$1" ]; }

# end_agent: ends it as a service manager does.
end_agent() {
    kill -TERM "$agent"
    end_status=0
    wait "$agent" || end_status=$?
    expect_equal "status of the agent" 0 "$end_status"
}

# expect_taken KIND NAME TYPE...: the receiver "taken" has of the profile NAME what the last profile of the kind in $truth has.
expect_taken() {
    taken_kind=$1
    taken_name=$2
    shift 2
    for taken_type in "$@"; do
        expect_equal "$taken_type of $taken_kind" "$(total "$taken_type" "$truth"/*-"$taken_kind"-*)" \
            "$(sent taken "$taken_type" "$taken_name")"
    done
}

# targets: the processes that it has found, a line each: PID SERVICE
targets() {
    python3 "$ask" "$url/targets" -o targets.json >/dev/null || fail "no answer to /targets"
    python3 -c 'import json
for group in json.load(open("targets.json")):
    print(group["labels"]["process_pid"], group["labels"]["service_name"])'
}

has_target() { targets | grep -q "^$1 "; }
has_no_target() { ! has_target "$1"; }

# start_guest NAME OPTIONS [WHAT...]: a program that works until end_guests, as $guest; it reads from the FIFO guests.in.
start_guest() {
    guest_name=$1 guest_options=$2
    shift 2
    [ -p guests.in ] || mkfifo guests.in
    env LIBPPROF="$guest_options" OTEL_SERVICE_NAME="$guest_name" LD_PRELOAD="$library" \
        "$own/web_guest" "$@" <guests.in >guest.out 2>guest.err &
    guest=$!
    started="$started $guest"
}

# status_of PATH [OPTIONS...]: prints the status of an answer.
status_of() {
    status_path=$1
    shift
    python3 "$ask" "$url$status_path" "$@" | sed -n 1p
}

# get FILE PATH: the body of an answer that must be 200.
get() {
    python3 "$ask" "$url$2" -o "$1" >get.answer || fail "no answer to $2"
    expect_equal "status of $2" 200 "$(sed -n 1p get.answer)"
}
