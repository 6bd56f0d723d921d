# shellcheck shell=sh disable=SC2034,SC2154 # scripts use the variables, and have others of lib.sh
# SPDX-License-Identifier: MIT
#
# torture.sh: what the scripts share that have system calls of the library fail (test/torture/torture.c).
#
#   torture NAME OPTIONS COMMAND...   the command's output and status stay what they are without the library
#   torture_server NAME OPTIONS COMMAND...   likewise of a script that starts its program by $TORTURE_PRELOAD
#
# A run takes a quarter of the places, another one each day, and one error of each call. $TORTURE has other options of the tool; with
# LONG=1 in the environment every place is taken, with every error.
torture=$BUILD/test/torture/torture
[ -x "$torture" ] || skip "the tool knows glibc only"

if [ -n "${LONG-}" ]; then
    TORTURE=--deep
else
    TORTURE=${TORTURE-"--part $(($(date +%s) / 86400 % 4 + 1))/4"}
fi

all_kinds=cpu:1000,heap:4k,block:1,mutex:1,thread,fd,peak,leak,lifetime,age
# Some programs close stderr before they end.
profiles='log=%D/log,file=%D/%e.%p.%k.pb.gz'

torture_run() { # NAME OPTIONS FLAG COMMAND...
    torture_name=$1 torture_options=$2 torture_flag=$3
    shift 3
    torture_status=0
    # shellcheck disable=SC2086 # words
    timeout -s KILL 3000 "$torture" --library "$library" --options "$torture_options" $TORTURE $torture_flag -- "$@" \
        >torture.out 2>torture.err || torture_status=$?
    [ $torture_status != 77 ] || skip "$(cat torture.err)"
    tail -n 1 torture.out | sed "s|^|$torture_name ($TORTURE): |"
    [ $torture_status = 0 ] || fail "$torture_name: $(cat torture.out torture.err)"
    tail -n 1 torture.out | grep -q '; [1-9][0-9]* failed,' ||
        fail "$torture_name: no call failed"
    ! tail -n 1 torture.out | grep -q ', 0 profiles;' || fail "$torture_name: it writes no profile"
}

torture() {
    torture_n=$1 torture_o=$2
    shift 2
    torture_run "$torture_n" "$torture_o" "" "$@"
}

torture_server() {
    torture_n=$1 torture_o=$2
    shift 2
    torture_run "$torture_n" "$torture_o" --server "$@"
}
