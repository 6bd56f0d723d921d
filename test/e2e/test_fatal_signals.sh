#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_fatal_signals.sh: SIGTERM and SIGINT: the profile is written, the parent sees the signal; the
# host's own handlers and settings work as without us; SIGKILL leaves nothing half-written.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# end_by SIGNAL NAME COMMAND...: starts the command, waits for "ready", sends the signal; $ended is its
# status.
end_by() {
    end_signal=$1
    end_name=$2
    shift 2
    $signal_env env LIBPPROF="cpu:1000,file=$work/$end_name.pb.gz" \
        LD_PRELOAD="$library" "$@" >"$end_name.out" 2>"$end_name.err" &
    end_process=$!
    started="$started $end_process"
    wait_until has_line "$end_name.out" ready
    kill -s "$end_signal" $end_process
    wait_until is_over $end_process
    ended=0
    wait $end_process || ended=$?
}
find_signal_env

for way in idle busy threads small-stack malloc dlopen stdio default-restored; do
    end_by TERM $way "$victims/ends" $way
    expect_equal "status of $way after SIGTERM" 143 "$ended"
    raw $way.pb.gz
    expect_share "last_work before SIGTERM in $way" 200 \
        "$(weight_with $way.pb.gz.raw last_work main)"
    expect_no_file "$(echo $way.pb.gz.tmp.*)"
done
end_by INT int "$victims/ends" threads
expect_equal "status after SIGINT" 130 "$ended"
raw int.pb.gz

end_by TERM own "$victims/ends" own-handler
expect_equal "status of a program with its own SIGTERM handler" 42 "$ended"
expect_contains "output of the host's handler" own.out handler
raw own.pb.gz
end_by INT own-int "$victims/ends" own-handler
expect_equal "status of a program with its own SIGINT handler" 43 "$ended"

end_by KILL killed "$victims/ends" idle
expect_equal "status after SIGKILL" 137 "$ended"
expect_no_file killed.pb.gz

# Programs that ask for the disposition before they set theirs.
if [ -x /usr/bin/python3 ] && ! is_musl "$library"; then
    cat >interrupted.py <<'PYTHON'
import os, sys, signal
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
try:
    os.write(1, b"ready\n")
    while True:
        signal.pause()
except KeyboardInterrupt:
    os.write(1, b"KeyboardInterrupt\n")
    sys.exit(5)
PYTHON
    end_by INT python /usr/bin/python3 interrupted.py
    expect_equal "status of python3 after Ctrl-C" 5 "$ended"
    expect_contains "output of python3" python.out KeyboardInterrupt
    raw python.pb.gz
fi
cat >trapping.sh <<'SHELL'
trap 'echo trapped; exit 9' TERM
echo ready
while :; do sleep 0.05; done
SHELL
end_by TERM trap sh trapping.sh
expect_equal "status of a shell with a trap" 9 "$ended"
expect_contains "output of the trap" trap.out trapped
printf 'trap "" TERM; kill -TERM $$; trap - TERM; echo ready; while :; do :; done\n' >untrap.sh
end_by TERM untrap sh untrap.sh
expect_equal "status of a shell that ignored the signal for a while" 143 "$ended"
echo ok
