#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 3
#
# test_cpprof_live_terminal.sh: `cpprof top -p` on a terminal: what it draws, what its keys do, and that the terminal is as it
# was before, however it ends. test/e2e/live/screens.py has the scenarios.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need bash
python=/usr/bin/python3 # Debian's has pty; one that was built without it has not
[ -x $python ] || absent $python
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

guest env LIBPPROF=control,heap:1,block,mutex LD_PRELOAD="$library" "$victims/web_guest"
listens() { "$BUILD/bin/cpprof" configure "$guest" >/dev/null 2>&1; }
wait_until listens
$python "$SRC/test/e2e/live/screens.py" "$BUILD/bin/cpprof" "$guest" "$@" 9>&- || fail "see above"
echo ok
