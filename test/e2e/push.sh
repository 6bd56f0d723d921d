# shellcheck shell=sh disable=SC2034,SC2154 # scripts use the variables; lib.sh sets some
# SPDX-License-Identifier: MIT
#
# push.sh: for scripts that push to the strict receiver. It comes after lib.sh and fleet.sh.
need python3
cpprof=$BUILD/bin/cpprof
"$cpprof" help push >help.out 2>&1 || skip "protobuf-c was not installed for the build"

# received FOLDER NAME: how many profiles of that name came; of any, without NAME.
received() {
    python3 - "$1/received.jsonl" "${2-}" <<'END'
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])] if os.path.exists(sys.argv[1]) else []
print(sum(1 for line in lines if "totals" in line and sys.argv[2] in ("", line["labels"].get("__name__"))))
END
}
has_received() { # FOLDER NAME COUNT
    [ "$(received "$1" "$2")" -ge "$3" ]
}
# has_since FOLDER NAME NS: two profiles of that name came that were made at NS or later. So all came that the program had sent before the second.
has_since() {
    python3 - "$1/received.jsonl" "$2" "$3" <<'END'
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])] if os.path.exists(sys.argv[1]) else []
sys.exit(sum("totals" in one and one["labels"]["__name__"] == sys.argv[2] and one["time_nanos"] >= int(sys.argv[3]) for one in lines) < 2)
END
}
all_refused() { # FOLDER
    [ ! -e "$1/received.jsonl" ] || sed -n 's/.*"refused": "\([^"]*\)".*/\1/p' "$1/received.jsonl"
}
# refused FOLDER: what the receiver did not like. A request whose answer comes too late, on a busy machine, is sent again: that counts
# in sent_again alone, since the receiver has it once.
refused() {
    all_refused "$1" | grep -v "^is sent again$" || true
}
sent_again() { # FOLDER
    all_refused "$1" | grep -c "^is sent again$" || true
}

# sent FOLDER TYPE [NAME [last]]: the sum of all values of a sample type that came; only those of the last profile with it.
sent() {
    python3 - "$1/received.jsonl" "$2" "${3-}" "${4-}" <<'END'
import json, sys
sums = [0]
for line in map(json.loads, open(sys.argv[1])):
    if "totals" in line and sys.argv[3] in ("", line["labels"].get("__name__")):
        for kind, total in zip(line["types"], line["totals"]):
            if kind == sys.argv[2] or kind[0] == sys.argv[2] or kind.split("/")[0].split(":")[0] == sys.argv[2]:
                sums.append(total)
print(sums[-1] if sys.argv[4] else sum(sums))
END
}

# sent_label FOLDER LINE NAME: a label of the profile that came as number LINE, or -.
sent_label() {
    python3 -c 'import json, sys
print([json.loads(line) for line in open(sys.argv[1] + "/received.jsonl")][int(sys.argv[2]) - 1]["labels"].get(sys.argv[3], "-"))' "$@"
}

# total TYPE FILE: the sum of all values of a sample type.
total() {
    "$cpprof" raw "$2" | awk -v type="$1" '
        /^Samples:/ { getline; n = split($0, names, " "); for (i = 1; i <= n; i++) if (index(names[i], type "/") == 1) column = i; next }
        /^Locations/ { exit }
        column && /^ *-?[0-9]+( +-?[0-9]+)*:/ { sub(/:.*/, ""); split($0, values, " "); sum += values[column] }
        END { printf "%.0f\n", sum }'
}

stop_receiver() {
    kill "$receiver"
    wait "$receiver" 2>/dev/null || true
}
