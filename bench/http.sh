#!/bin/sh
# SPDX-License-Identifier: MIT
#
# http: what a server for /debug/pprof/ costs a stranger: loaded objects, constructors, memory, threads, and the time until
# clients can connect. http_parser is a parser only: the loop around it is not in its figures. The least of 20 runs.
#
# Then what its answers cost, beside net/http/pprof in a Go program of the same shape (http_target.c, http_target.go):
# latency and throughput with 1 and 8 clients, CPU time of a scrape, CPU time of an idle server.

set -eu
folder=${LIBRARY%/*}

# least NAME FILE [FIRST FILE]
least() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$PROGRAMS/http_door" "$@" 2>/dev/null || break
    done | awk '!($1 in least) || $2 < least[$1] { if (!($1 in least)) order[++n] = $1; least[$1] = $2; unit[$1] = $3 }
        END { for (i = 1; i <= n; i++) print order[i], least[order[i]], unit[order[i]]
              if (n == 0) print "# not installed: '"$2"'" }' | sed 's/^\([a-z]*\)\.\([a-z]*\) /http.\2.\1 /'
}

least pprof "$folder/libpprof-http.so.0" "$LIBRARY"
least civetweb libcivetweb.so.1
least microhttpd libmicrohttpd.so.12
least parser libhttp_parser.so.2.9

# ---- answers ----

targets=
end_targets() {
    for process in $targets; do
        kill "$process" 2>/dev/null || true
    done
}
trap end_targets EXIT
trap 'exit 130' INT TERM

# start WHO PROGRAM: the variable WHO is "WHO PROCESS PORT".
start() {
    "$2" >"$WORK/$1.out" 2>"$WORK/$1.err" &
    targets="$targets $!"
    until grep -q . "$WORK/$1.out"; do
        kill -0 "$!"
        sleep 0.1
    done
    eval "$1='$1 $(cat "$WORK/$1.out")'"
}

pprof='' go=''
start pprof "$PROGRAMS/http_target"
if ! command -v go >/dev/null; then
    echo "# http: there is no Go here to compare with"
elif ! GO111MODULE=off GOCACHE="$WORK/go-cache" GOFLAGS='' go build -o "$WORK/http_target_go" \
    "$(dirname "$0")/http_target.go" 2>"$WORK/go-errors"; then
    echo "# http: http_target.go could not be built: $(head -n 3 "$WORK/go-errors" | tr '\n' ' ')"
else
    start go "$WORK/http_target_go"
fi

# load ARGUMENTS...: what http_load prints; where both have a rate, ours in units of Go's; what a scrape every 15 s takes.
load() {
    "$PROGRAMS/http_load" "$@" | awk '
        { print; split($1, part, "."); value[part[2], part[3]] = $2; names[part[2]] }
        END {
            for (name in names) {
                if (name ~ /_rate$/ && (name, "go") in value)
                    printf "http.%s.pprof %.2f x\n", substr(name, 1, length(name) - 4) "speedup",
                        value[name, "pprof"] / value[name, "go"]
                if (name ~ /^scrape.*_cpu$/)
                    printf "http.%s.pprof %.4f %%\n", name "_share", value[name, "pprof"] / 15000 * 100
            }
        }'
}

# of PATH [PATH]: the servers, as http_load takes them; the second is what Go calls it. It has goroutines where we have threads.
of() { echo "$pprof $1${go:+ $go ${2-$1}}"; }

# shellcheck disable=SC2046 # words
{
    load idle idle $(of -)
    load cpu scrape_heap $(of heap)
    load cpu scrape_thread $(of thread goroutine)
    for clients in 1 8; do
        load rate "heap_$clients" "$clients" $(of heap)
        load rate "thread_$clients" "$clients" $(of thread goroutine)
    done
}
