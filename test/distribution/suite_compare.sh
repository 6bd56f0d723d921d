# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# suite_compare.sh: runs another project's own test suite with and without the library, and compares test by test.
# Included by the scripts beside it, after both_ways.sh.
#
# A suite has units: what can be run alone, in a folder of its own. A unit has tests, each with an outcome; how they
# are printed is the suite's affair. The script that includes this defines:
#
#   units               prints the names of all units, one a line
#   run_unit HOW UNIT   runs it in the present folder, its output is the log. `with HOW COMMAND...` runs a command
#                       with the library or without: HOW is plain or preload
#   outcomes UNIT       reads the log, prints a line for each test: "OUTCOME NAME"; ok is the good one
#
# The exit status of a unit is an outcome too: of the test "(status)". Where the two ways differ, the unit is run
# again $AGAIN_UNITS times each way, and a test may not be ok less often with the library, unless known.txt says why.
#
#   ONLY="PATTERN..."   only these units
#   JOBS=N LIMIT=SECONDS OPTIONS=LIBPPROF   as in both_ways.sh
#   AGAIN_UNITS=N       in place of AGAIN: 3
: "${library:?from both_ways.sh}"

# demote: from now on, commands are run by a user without rights: some tests refuse root, and some must not have it.
user=
demote() {
    [ "$(id -u)" != 0 ] || user="env HOME=/tmp setpriv --reuid=65534 --regid=65534 --clear-groups"
}

# with HOW COMMAND...: under a limit of time.
with() {
    with_how=$1
    shift
    # shellcheck disable=SC2086 # $user has several words, or none
    case $with_how in
    plain) timeout -k 5 "$LIMIT" $user "$@" ;;
    preload) timeout -k 5 "$LIMIT" $user env LIBPPROF="$OPTIONS" LD_PRELOAD="$library" "$@" ;;
    esac
}

# one_unit HOW UNIT FILE: its outcomes go to FILE, sorted by name; the log stays beside it.
one_unit() {
    one_unit_folder=$(mktemp -d "$WORK/run.XXXXXX")
    chmod 777 "$one_unit_folder"
    one_unit_status=0
    (cd "$one_unit_folder" && run_unit "$1" "$2") >"$3.log" 2>&1 </dev/null || one_unit_status=$?
    {
        [ "$one_unit_status" -ne 0 ] || echo "ok (status)"
        [ "$one_unit_status" -eq 0 ] || echo "$one_unit_status (status)"
        (cd "$one_unit_folder" && outcomes "$2" <"$3.log")
    } | sort -u -k 2 >"$3"
    chmod -R u+rwx "$one_unit_folder"
    rm -rf "$one_unit_folder"
}

unit_file() { # HOW UNIT
    echo "$WORK/outcomes/$(echo "$2" | tr '/ ' '__').$1"
}

# differing PLAIN PRELOAD: the names of the tests whose outcome is another, or that are in one of the files only.
differing() {
    sort "$1" "$2" | uniq -u | cut -d ' ' -f 2- | sort -u
}

# oks NAME FILE...: in how many files the test is ok.
oks() {
    oks_name=$1
    shift
    cat "$@" | grep -cxF "ok $oks_name" || :
}

# judge_unit UNIT: runs it again, and prints a verdict for each test that differs.
judge_unit() {
    judge_plain=$(unit_file plain "$1")
    judge_preload=$(unit_file preload "$1")
    judge_left=$AGAIN
    while [ "$judge_left" -gt 0 ]; do
        one_unit plain "$1" "$judge_plain.$judge_left"
        one_unit preload "$1" "$judge_preload.$judge_left"
        judge_left=$((judge_left - 1))
    done
    differing "$judge_plain" "$judge_preload" | while IFS= read -r test; do
        plain=$(oks "$test" "$judge_plain".[0-9] "$judge_plain".[0-9][0-9])
        preload=$(oks "$test" "$judge_preload".[0-9] "$judge_preload".[0-9][0-9])
        verdict=same
        if [ "$preload" -lt "$plain" ]; then
            verdict=WORSE
            reason=$(known_reason "$1" "$test")
            [ -z "$reason" ] || verdict="known ($reason)"
        fi
        echo "$verdict: $1: $test: ok of $AGAIN: $plain, with the library $preload"
    done 2>/dev/null
}

# run_list FILE: runs the units in it both ways.
run_list() {
    while IFS= read -r unit; do
        one_unit plain "$unit" "$(unit_file plain "$unit")"
        one_unit preload "$unit" "$(unit_file preload "$unit")"
    done <"$1"
}

# chosen_units: those of `units` that $ONLY names.
chosen_units() {
    units | while IFS= read -r unit; do
        set -f # the patterns are not for files
        for pattern in ${ONLY:-*}; do
            # shellcheck disable=SC2254 # a pattern
            case $unit in
            $pattern)
                echo "$unit"
                break
                ;;
            esac
        done
    done
}

# compare_suite: all of it. Fails if a test is worse with the library.
compare_suite() {
    AGAIN=${AGAIN_UNITS:-3}
    rm -rf "$WORK/outcomes" "$WORK"/list.* "$WORK/verdicts"
    mkdir -p "$WORK/outcomes"
    chosen_units >"$WORK/list"
    [ -s "$WORK/list" ] || {
        echo "no such unit: ${ONLY:-}" >&2
        return 1
    }
    split -n "r/$JOBS" "$WORK/list" "$WORK/list."
    for part in "$WORK"/list.*; do
        (
            # shellcheck disable=SC2034 # for run_unit: what jobs must not share
            JOB=${part##*.}
            run_list "$part"
        ) &
    done
    wait
    : >"$WORK/verdicts"
    while IFS= read -r unit <&3; do
        cmp -s "$(unit_file plain "$unit")" "$(unit_file preload "$unit")" || judge_unit "$unit" | tee -a "$WORK/verdicts"
    done 3<"$WORK/list"
    while IFS= read -r unit; do
        cat "$(unit_file plain "$unit")"
    done <"$WORK/list" >"$WORK/plain"
    while IFS= read -r unit; do
        cat "$(unit_file preload "$unit")"
    done <"$WORK/list" >"$WORK/preload"
    echo "$(wc -l <"$WORK/list") units, $(grep -vc '(status)$' "$WORK/plain" || :) tests," \
        "$(grep -v '(status)$' "$WORK/plain" | grep -c '^ok ' || :) pass without the library," \
        "$(grep -v '(status)$' "$WORK/preload" | grep -c '^ok ' || :) with it (before trying again)"
    worse=$(grep -c '^WORSE' "$WORK/verdicts" || :)
    echo "$worse worse with the library"
    [ "$worse" -eq 0 ]
}
