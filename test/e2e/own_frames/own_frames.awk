# SPDX-License-Identifier: MIT
#
# own_frames.awk: what `go tool pprof -raw` prints, read twice:
#
#   awk -f own_frames.awk -v allowed=FILE [-v from=ADDRESS -v to=ADDRESS] [-v rounds=N -v sites=REGEX] RAW RAW
#
# Prints a line for each frame of libpprof that is no leaf under a name in FILE, and no pseudo-frame; libpprof's code is that of
# its module, or lies between two addresses (of 16 hexadecimal digits, as all that are compared). With rounds: for each stack of a
# function whose name matches, unless it was counted a multiple of N times. Nothing printed: all is right.

BEGIN {
    while ((getline row < allowed) > 0) leaf[row] = 1
    # Stand for what nobody saw; heap_mappings' are in front of a leaf.
    pseudo = "^pprof_(lost_samples|unseen_holder|lost_profile_event|missing_frames|first_thread|unseen_creation|" \
        "unseen_descriptor|earlier_descriptor|file_mapping)$"
    # Calls malloc in the place of libstdc++'s, which does nothing else; and what Go shows of its own, too.
    stays = "^(operator new|pprof_do$)"
}

function wide(address) {
    sub(/^0x/, "", address)
    return substr("0000000000000000", 1, 16 - length(address)) address
}

/^Samples:/   { part = 1; next }
/^Locations/  { part = 2; next }
/^Mappings/   { part = 3; next }

NR == FNR && part == 2 && /^ *[0-9]+: 0x/ {
    id = $1; sub(/:/, "", id)
    address[id] = wide($2)
    mapping[id] = $3 ~ /^M=/ ? substr($3, 3) : 0
    line = $0
    sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "", line)
    sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=-?[0-9]+.*$/, "", line)
    sub(/ +$/, "", line)
    name[id] = line == "" ? $2 : line
    next
}
NR == FNR && part == 3 && /libpprof[.]so/ { id = $1; sub(/:/, "", id); is_ours[id] = 1 }
NR == FNR { next }

function is_own(id) {
    if (from != "") return address[id] >= from && address[id] < to
    return is_ours[mapping[id]]
}

part == 1 && /^ *[0-9]+( +[0-9]+)*:/ {
    count = $1; sub(/:.*/, "", count)
    line = $0
    sub(/^[ 0-9]+: ?/, "", line)
    depth = split(line, ids, " ")
    text = ""
    for (i = 1; i <= depth; i++) text = text " " name[ids[i]]
    for (i = 1; i <= depth; i++) {
        if (!is_own(ids[i]) || name[ids[i]] ~ pseudo) continue
        ours++
        first = i == 1 || (i == 2 && name[ids[1]] ~ pseudo)
        if (!(first && name[ids[i]] in leaf) && name[ids[i]] !~ stays)
            print "a frame of libpprof, " name[ids[i]] ", in:" text
    }
    for (i = 1; rounds && i <= depth; i++)
        if (name[ids[i]] ~ sites && count % rounds != 0)
            print count " times " name[ids[i]] ", which was called " rounds " times, in:" text
}
