# shellcheck shell=sh disable=SC2034 # scripts use the variables
# SPDX-License-Identifier: MIT
#
# hosts.sh: what the tests of odd hosts (test_odd_hosts_*.sh) share. A script includes it first, in place of lib.sh:
#
#   . "$SRC/test/e2e/odd/hosts.sh"
#
# An odd host is a program that does what is legal and uncommon. It must not notice the library: its output and
# its status are those of a run without it, and there is a profile that can be read.
#
#   ODD_TIMES=N   run each host so often with the library: 1
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
odd=$SRC/test/e2e/odd
all_kinds=cpu:1000,heap,block,mutex,thread,fd
perf_kind=cpu:10000,engine=perf

# run_host FILE COMMAND...: output, messages and status of the command in FILE. No host may take a minute.
run_host() {
    run_host_file=$1
    shift
    run_host_status=0
    timeout -s KILL 60 "$@" >"$run_host_file" 2>&1 </dev/null || run_host_status=$?
    echo "status $run_host_status" >>"$run_host_file"
}

# The line of a shell that tells of a signal has a process id in it.
tells_the_same() {
    sed "${HOST_NOISE:-}" "$1" >plain.seen
    sed "${HOST_NOISE:-}" "$2" >library.seen
    cmp -s plain.seen library.seen
}

# A fault of a host is printed, and odd_verdict fails in the end. So one run shows all.
faults=0
hosts=0
fault() {
    echo "FAIL: $*" >&2
    faults=$((faults + 1))
}

# with_library NAME HOW OPTIONS COMMAND...: one run of the host with the library, compared with NAME.plain. Its
# profiles are kept as profiles/HOW.KIND/NAME.PID.pb.gz.
mkdir "$work/profiles"
with_library() {
    with_name=$1
    with_how=$2
    with_options=$3
    shift 3
    rm -f "$work/odd".*.pb.gz
    # shellcheck disable=SC2086 # a command of several words
    run_host "$with_name.seen" ${HOST_BEFORE:-} env LIBPPROF="$with_options,file=$work/odd.%p.%k.pb.gz" \
        LD_PRELOAD="${HOST_PRELOAD:+$HOST_PRELOAD:}$library" "$@"
    tells_the_same "$with_name.plain" "$with_name.seen" || {
        fault "$with_name with $with_options: without the library, then with it:"
        tail -n 6 "$with_name.plain" >&2
        tail -n 12 "$with_name.seen" >&2
        diff plain.seen library.seen >&2 || :
        return 0
    }
    with_found=
    for with_file in "$work/odd".*.pb.gz; do
        [ -s "$with_file" ] || continue
        with_found=yes
        with_kind=${with_file%.pb.gz}
        with_kind=$work/profiles/$with_how.${with_kind##*.}
        mkdir -p "$with_kind"
        mv "$with_file" "$with_kind/$with_name.${with_file#"$work/odd."}"
    done
    [ -n "$with_found" ] || [ "${HOST_PROFILE:-yes}" = none ] || fault "$with_name with $with_options: no profile"
}

# read_profiles: go tool pprof reads all of a kind at once, without a warning: starting it takes longer than a host.
read_profiles() {
    for read_kind in "$work"/profiles/*; do
        [ -d "$read_kind" ] || continue
        go tool pprof "$as_written" -raw "$read_kind"/*.pb.gz >read.raw 2>read.errors || fault "$read_kind is not readable"
        [ ! -s read.errors ] || fault "reading $read_kind: $(cat read.errors)"
        rm -rf "$read_kind"
    done
}

# odd_host NAME COMMAND...: the host, if it is for the library's libc, without the library, with all kinds, and with the engine perf at 10 kHz.
#
#   HOST_NOISE=SED     a sed script that takes out of the output what differs from run to run
#   HOST_BEFORE=WORDS  a command before the host, which the library is not preloaded into
#   HOST_PRELOAD=FILE  a library that the host needs before ours; it is preloaded in the plain run too
#   HOST_PROFILE=none  the host ends in a way that leaves no profile
odd_host() {
    odd_name=$1
    shift
    for odd_file in "$(command -v "$1")" ${HOST_PRELOAD:+"$HOST_PRELOAD"}; do
        ! is_of_other_libc "$odd_file" || {
            not_here "$odd_name for this libc"
            return 0
        }
    done
    hosts=$((hosts + 1))
    # shellcheck disable=SC2086 # a command of several words
    run_host "$odd_name.plain" ${HOST_BEFORE:-} env ${HOST_PRELOAD:+LD_PRELOAD="$HOST_PRELOAD"} "$@"
    odd_times=${ODD_TIMES:-1}
    while [ "$odd_times" -gt 0 ]; do
        odd_times=$((odd_times - 1))
        with_library "$odd_name" all "$all_kinds" "$@"
        with_library "$odd_name" perf "$perf_kind" "$@"
    done
    [ "${ODD_TIMES:-1}" -eq 1 ] || read_profiles
}

# odd_verdict: the end of a script.
odd_verdict() {
    read_profiles
    [ "$faults" -eq 0 ] || fail "$faults faults in $hosts hosts"
    [ "$hosts" -gt 0 ] || skip "none of these hosts is here"
    echo "ok: $hosts hosts${absent:+; not here:$absent}"
}

# not_here WHAT: says so, and goes on.
absent=
not_here() { absent="$absent $*,"; }
