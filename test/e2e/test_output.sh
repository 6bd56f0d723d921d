#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_output.sh: where a profile can and cannot be written. The program's status and output are the same
# in each case; what cannot be written is said once; nothing half-written is left.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout mkfifo

run_to() { # FILE [COMMAND...]
    run_file=$1
    shift
    [ $# -gt 0 ] || set -- "$victims/ends" return
    expect_equal "status with file=$run_file" 42 "$(status timeout -s KILL 60 env \
        LIBPPROF="cpu:1000,file=$run_file" LD_PRELOAD="$library" "$@" 2>errors)"
}
written() { # FILE
    raw "$1"
    expect_work "weight of last_work in $1" 200 "$(weight_with "$1.raw" last_work)" 25
    expect_equal "messages for $1" "" "$(cat errors)"
}
refused() {
    expect_equal "lines of messages, $run_file: $(cat errors)" 1 "$(grep -c . errors)"
    expect_contains "messages" errors "could not be written"
}

run_to "$work/p.pb.gz"
written p.pb.gz
expect_equal "mode of the file" 600 "$(stat -c %a p.pb.gz)"
echo "another file" >p.pb.gz
run_to "$work/p.pb.gz" # is replaced
written p.pb.gz
run_to relative.pb.gz
written relative.pb.gz

run_to "$work/no/such/folder/p.pb.gz"
refused
mkdir folder
run_to "$work/folder"
refused
expect_equal "files in folder" "" "$(ls folder)"
run_to /dev/full
refused
run_to /dev/null
expect_equal "messages for /dev/null" "" "$(cat errors)"
[ -c /dev/null ] || fail "/dev/null was replaced"

# A link is a name to be taken over: what it points to stays as it was.
echo precious >target
ln -s target link
run_to "$work/link"
expect_equal "what the link pointed to" precious "$(cat target)"
rm -f link
ln -s /dev/null link
run_to "$work/link"
[ -L link ] || fail "a link to a device was replaced"

# A FIFO without a reader does not hang the program, and stays a FIFO.
mkfifo fifo
run_to "$work/fifo"
refused
[ -p fifo ] || fail "the FIFO was replaced"
cat fifo >from_fifo &
reader=$!
started="$started $reader"
run_to "$work/fifo"
wait $reader
written from_fifo
# One whose reader has gone by the time of writing.
head -c 0 fifo &
wait_until run_to "$work/fifo"

# A reader that does not read: given up after a while.
if [ -x /usr/bin/python3 ]; then
    mkfifo full
    # shellcheck disable=SC2094 # held open at both ends, so that it is never closed
    /usr/bin/python3 -c "
import fcntl, os, time
fd = os.open('full', os.O_RDWR)
fcntl.fcntl(fd, 1031, 4096)
os.write(fd, b'x' * 4096)
print('full', flush=True)
time.sleep(120)" >filled &
    started="$started $!"
    wait_until has_line filled full
    run_to "$work/full"
    refused
fi

# Descriptors that the program was given.
run_to /dev/fd/7 "$victims/ends" return 7>seven
expect_equal "status" 42 "$(status env LIBPPROF=cpu:1000,file=/dev/fd/7 LD_PRELOAD="$library" \
    "$victims/ends" return 7>seven 2>errors)"
written seven
run_to /dev/fd/8 # not open
refused
mkfifo gone
cat gone >/dev/null &
reader=$!
exec 5>gone
kill $reader
wait $reader 2>/dev/null || true
run_to /dev/fd/5
refused
exec 5>&-

# No messages to where nobody listens: stderr is a pipe without a reader.
expect_equal "status where stderr is closed" 42 \
    "$(status env LIBPPROF=nonsense,cpu,file=/no/such LD_PRELOAD="$library" "$victims/ends" return 2>&-)"

# Limits.
run_limited() { # ULIMIT-OPTION VALUE FILE
    # shellcheck disable=SC2016 # for the inner shell
    limited='ulimit "$1" "$2"; shift 2; exec "$@"'
    plain=$(status sh -c "$limited" sh "$1" "$2" env "$victims/ends" return 2>/dev/null)
    found=$(status sh -c "$limited" sh "$1" "$2" env LIBPPROF="cpu:1000,file=$3" \
        LD_PRELOAD="$library" "$victims/ends" return 2>/dev/null)
    expect_equal "status with ulimit $1 $2" "$plain" "$found"
}
run_limited -f 0 "$work/limited.pb.gz"
expect_no_file limited.pb.gz
run_limited -v 50000 "$work/v.pb.gz"
run_limited -n 5 "$work/n.pb.gz"
if command -v prlimit >/dev/null; then
    for pending in 0 8; do
        expect_equal "status with $pending pending signals" 42 "$(status prlimit \
            --sigpending=$pending env LIBPPROF="cpu:1000,file=$work/i.pb.gz" \
            LD_PRELOAD="$library" "$victims/ends" return 2>/dev/null)"
    done
fi

# A folder that this user may not write to.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir locked
    chmod 755 . locked
    as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    expect_equal "status in a folder of somebody else's" 42 "$(as_nobody env LD_PRELOAD="$(for_everybody "$library")" \
        LIBPPROF="cpu:1000,file=$work/locked/p.pb.gz" "$(for_everybody "$victims/ends")" return 2>errors || echo $?)"
    refused

    # Another user has made all the temporary names that can be guessed.
    mkdir -m 1777 shared
    mkfifo begin
    sh -c 'read -r go <begin; exec "$@"' sh env LIBPPROF="cpu:1000,file=$work/shared/p.pb.gz" LD_PRELOAD="$library" \
        "$victims/ends" return 2>errors &
    guest=$!
    # shellcheck disable=SC2016 # the other shell's
    as_nobody sh -c 'i=0; while [ $i -lt 1000 ]; do : >"$1.tmp.$2.$i"; i=$((i + 1)); done' sh "$work/shared/p.pb.gz" $guest
    echo >begin
    guest_status=0
    wait $guest || guest_status=$?
    expect_equal "status beside taken names" 42 $guest_status
    [ -s shared/p.pb.gz ] || fail "names that another user made have taken the profile: $(cat errors)"
    expect_equal "files of the other user" 1000 "$(find shared -user 65534 -empty | wc -l)"
    rm -r shared
fi
for left in *.tmp.* */*.tmp.*; do
    [ ! -e "$left" ] || fail "a temporary file was left behind: $left"
done
echo ok
