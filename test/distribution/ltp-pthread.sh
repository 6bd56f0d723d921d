#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ltp-pthread.sh: the threads and semaphores of the open POSIX test suite, which is a part of the Linux Test
# Project. No present distribution packages it: $LTP names a checkout; without it one is cloned.
: "${here:?run by test/distribution/run}"
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"

LTP=${LTP:-$WORK/ltp}
[ -d "$LTP" ] || git clone --quiet --depth 1 https://github.com/linux-test-project/ltp "$LTP"
suite=$LTP/testcases/open_posix_testsuite
built=$WORK/built
mkdir -p "$built"

echo "building in $built"
sources() {
    find "$suite"/conformance/interfaces/pthread_* "$suite"/conformance/interfaces/sem_* "$suite/functional/threads" \
        "$suite/functional/semaphores" -name '*.c' ! -name '*-buildonly*' ! -name testfrmw.c \
        ! -name threads_scenarii.c | sort
}
sources | while read -r file; do
    name=$(echo "${file#"$suite"/}" | sed -e 's/^conformance.interfaces.//' -e 's/\.c$//' | tr / .)
    [ -e "$built/$name" ] || cc -w -O1 -D_GNU_SOURCE -DPTS_USE_GETPAGESIZE -I"$suite/include" -I"$(dirname "$file")" \
        "$file" "$suite/lib/common.c" -o "$built/$name" -lrt -lm 2>"$built/$name.err" || continue
    rm -f "$built/$name.err"
done
find "$built" -type f -perm -u+x | sort >"$WORK/list"
echo "$(wc -l <"$WORK/list") of $(sources | wc -l) tests can be built"
[ -s "$WORK/list" ]
both_ways "$WORK/list"
