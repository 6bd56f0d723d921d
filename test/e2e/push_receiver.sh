# shellcheck shell=sh disable=SC2034,SC2154 # scripts use the variables; lib.sh sets some
# SPDX-License-Identifier: MIT
#
# push_receiver.sh: for scripts that push to test/e2e/push/receiver.py. It comes after lib.sh.
need python3
cpprof=$BUILD/bin/cpprof
"$cpprof" help push >help.out 2>&1 || skip "protobuf-c was not installed for the build"

# start_receiver FOLDER [CERTIFICATE KEY]: starts one, which keeps all in the folder. It listens at $url.
start_receiver() {
    mkdir -p "$1"
    rm -f "$1/port"
    python3 "$SRC/test/e2e/push/receiver.py" "$@" 2>"$1/err" &
    receiver=$!
    started="$started $receiver"
    wait_until test -e "$1/port"
    url="http${2:+s}://127.0.0.1:$(cat "$1/port")"
}

stop_receiver() {
    kill "$receiver"
    wait "$receiver" || true
}

# total TYPE FILE...: the sum of all values of a sample type.
total() {
    total_type=$1
    shift
    for total_file in "$@"; do
        "$cpprof" raw "$total_file" | awk -v type="$total_type" '
            /^Samples:/ { getline; n = split($0, names, " "); for (i = 1; i <= n; i++) if (index(names[i], type "/") == 1) column = i; next }
            /^Locations/ { exit }
            column && /^ *-?[0-9]+( +-?[0-9]+)*:/ { sub(/:.*/, ""); split($0, values, " "); sum += values[column] }
            END { printf "%.0f\n", sum }'
    done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# label NAME FILE.json: the value of a label of a profile that was taken, or -.
label() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))["labels"].get(sys.argv[1], "-"))' "$1" "$2"
}
