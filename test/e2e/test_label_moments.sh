#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 2
#
# test_label_moments.sh: each stack of a thread profile has the labels of its own moment, and no thread or creation is
# missing (records and texts: linked/label_moments.c; files: below).
#
#   LABEL_PROFILES=N   profiles of each form; 9000 judge some 100 000 records
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

"$linked/label_moments" "${LABEL_PROFILES:-60}"

go_pprof "$as_written" -traces moments.*.pb.gz >traces 2>traces.err || fail "traces: $(cat traces.err)"
# Prints how many samples lie in work_f and work_g, and each whose label is not that of its function.
awk '
    function judge() {
        if (want != "") { judged += weight; if (label != want) print "labelled \"" label "\", in work_" tolower(want) }
        label = want = weight = ""
    }
    /^-----/            { judge() }
    /^ +kind:/          { label = $2 }
    /^ +[0-9]+ /        { weight = $1 }
    / work_[fg]$/       { want = toupper(substr($NF, 6)) }
    END                 { judge(); print judged + 0 " judged" }' traces >judged
! grep '^labelled' judged || fail "labels of another moment in moments.*.pb.gz"
count=$(sed -n 's/ judged$//p' judged)
[ "$count" -gt 60 ] || fail "only $count samples of moments.*.pb.gz lie in work_f or work_g"
echo "ok: $count samples of files"
