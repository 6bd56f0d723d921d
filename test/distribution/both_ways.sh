# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# both_ways.sh: runs other people's tests with and without the library, and compares. Included by the scripts
# beside it, which `run` calls with $BUILD and $WORK (a folder of theirs, kept from run to run).
#
# A test is a program in a folder. What it prints is not looked at, its exit status is: 0 = passed. Where the
# two differ each way is tried again, alone, for as many times as $AGAIN says: a test that fails at times by itself
# may not fail more often with the library. ONLY="PATTERN..." names those that are run.
set -eu

: "${BUILD:?the build directory}" "${WORK:?a folder to work in}" "${here:?where this file is}" "${suite:?the name of the suite}"
library=$BUILD/lib/libpprof.so.0
JOBS=${JOBS:-$(nproc)}
AGAIN=${AGAIN:-10}
LIMIT=${LIMIT:-120} # seconds that a test may take
OPTIONS=${OPTIONS:-block:1,mutex:1,file=/dev/null}

# private_apt COMMAND...: apt-get or apt-cache with package lists of ours, sources among them, in $WORK/apt.
private_apt() {
    private_apt_command=$1
    shift
    "$private_apt_command" -o Dir::Etc::sourcelist="$WORK/apt/sources.list" \
        -o Dir::Etc::sourceparts="$WORK/apt/parts" -o Dir::State::lists="$WORK/apt/lists" \
        -o Dir::Cache="$WORK/apt/cache" -o APT::Sandbox::User=root "$@"
}

# update_private_apt: the lists of the types deb and deb-src, once. Nothing of the system's own lists is
# changed. Where binary packages come from, there are the sources. Keys: those of the system.
update_private_apt() {
    [ ! -e "$WORK/apt/updated" ] || return 0
    mkdir -p "$WORK/apt/parts" "$WORK/apt/lists/partial" "$WORK/apt/cache/archives/partial"
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
        sed -e 'h; s/^/deb /; p; g; s/^/deb-src /' >"$WORK/apt/sources.list"
    private_apt apt-get -qq update
    : >"$WORK/apt/updated"
}

# debian_source PACKAGE: its source, patched, in $WORK/PACKAGE. A mirror may list a file that it does not hold: then
# it is the version of another release in the list.
debian_source() {
    [ ! -d "$WORK/$1" ] || return 0
    update_private_apt
    for debian_source_release in '' $(sed 's/^[^ ]* [^ ]* \([^ ]*\).*/\/\1/' "$WORK/apt/sources.list" | sort -u); do
        (cd "$WORK" && private_apt apt-get -qq source --download-only "$1$debian_source_release") \
            2>"$WORK/apt/errors" || continue
        (cd "$WORK" && dpkg-source --no-check -x "$1"_*.dsc "$1" >/dev/null)
        return
    done
    cat "$WORK/apt/errors" >&2
    return 1
}

# debian_package PACKAGE: its files in $WORK/root, without installing it.
debian_package() {
    [ ! -e "$WORK/root/.$1" ] || return 0
    update_private_apt
    mkdir -p "$WORK/root"
    (
        cd "$WORK"
        private_apt apt-get -qq download "$1"
        dpkg-deb -x "$1"_*.deb root
    )
    : >"$WORK/root/.$1"
}

# run_test LOG COMMAND...: prints the exit status; in a folder of its own.
run_test() {
    run_test_log=$1
    shift
    run_test_folder=$(mktemp -d "$WORK/run.XXXXXX")
    run_test_status=0
    (cd "$run_test_folder" && exec timeout -k 5 "$LIMIT" "$@") >"$run_test_log" 2>&1 </dev/null || run_test_status=$?
    chmod -R u+rwx "$run_test_folder"
    rm -rf "$run_test_folder"
    echo "$run_test_status"
}

# one_way plain|preload TEST: prints the exit status.
one_way() {
    one_way_log=$WORK/logs/$(echo "$2" | tr / _).$1
    case $1 in
    plain) run_test "$one_way_log" "$2" ;;
    preload) run_test "$one_way_log" env LIBPPROF="$OPTIONS" LD_PRELOAD="$library" "$2" ;;
    esac
}

# only LIST: leaves in it what one of the patterns in $ONLY names.
only() {
    [ -n "${ONLY:-}" ] || return 0
    set -f
    while IFS= read -r only_test; do
        for only_pattern in $ONLY; do
            # shellcheck disable=SC2254 # a pattern
            case ${only_test##*/} in
            $only_pattern)
                echo "$only_test"
                break
                ;;
            esac
        done
    done <"$1" >"$1.only"
    set +f
    mv "$1.only" "$1"
    [ -s "$1" ] || {
        echo "no such test: $ONLY" >&2
        exit 1
    }
}

# passes HOW TEST: how often it passes of $AGAIN times.
passes() {
    passes_count=0
    passes_left=$AGAIN
    while [ "$passes_left" -gt 0 ]; do
        passes_left=$((passes_left - 1))
        [ "$(one_way "$1" "$2")" -ne 0 ] || passes_count=$((passes_count + 1))
    done
    echo "$passes_count"
}

# known_reason UNIT TEST: why it may be worse with the library, from known.txt; nothing if it may not.
known_reason() {
    sed -e '/^#/d; /^$/d; s/ *| */|/g' "$here/known.txt" | while IFS='|' read -r of unit test reason; do
        # shellcheck disable=SC2254 # patterns
        case $suite/$1/$2 in
        $of/$unit/$test)
            echo "$reason"
            break
            ;;
        esac
    done
}

# both_ways LIST: runs the programs whose paths are in LIST (of these, $ONLY), $JOBS at a time, prints what differs
# and a summary; fails if there is a test that passes less often with the library, unless it is in known.txt.
both_ways() {
    only "$1"
    mkdir -p "$WORK/logs"
    export BUILD WORK LIMIT OPTIONS AGAIN
    # shellcheck disable=SC2016 # expanded by the inner shell
    xargs -P "$JOBS" -I '{}' sh -c '
        here=$1
        . "$here/both_ways.sh"
        plain=$(one_way plain "$2")
        preload=$(one_way preload "$2")
        echo "$2 $plain $preload"' sh "$here" '{}' <"$1" >"$WORK/results"
    sort -o "$WORK/results" "$WORK/results"
    [ "$(wc -l <"$WORK/results")" -eq "$(wc -l <"$1")" ] || {
        echo "not all tests were run: see $WORK/results" >&2
        return 1
    }
    worse=0
    while read -r test plain preload; do
        [ "$plain" -ne "$preload" ] || continue
        plain_passes=$(passes plain "$test")
        preload_passes=$(passes preload "$test")
        verdict=same
        if [ "$preload_passes" -lt "$plain_passes" ]; then
            verdict=WORSE
            reason=$(known_reason "${test##*/}" '')
            if [ -n "$reason" ]; then
                verdict="known ($reason)"
            else
                worse=$((worse + 1))
            fi
        fi
        echo "$verdict: ${test##*/}: status $plain, with the library $preload; passes of $AGAIN: $plain_passes, $preload_passes"
    done <"$WORK/results"
    awk '{ run++; plain += $2 == 0; preload += $3 == 0 }
        END { printf "%d run, %d pass without the library, %d with it (before trying again)\n", run, plain, preload }' \
        "$WORK/results"
    echo "$worse worse with the library"
    [ "$worse" -eq 0 ]
}
