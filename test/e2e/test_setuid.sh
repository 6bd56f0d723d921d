#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_setuid.sh: a program that runs with other rights than its caller's reads no options and writes no
# profile, even if it is linked to the library.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need setpriv cc
as_root "to make a setuid program"

chmod 755 .
mkdir -m 777 open
cat >host.c <<'C'
#include <errno.h>
#include <pprof.h>
int main(int argc, char **argv)
{
    int refused = pprof_parse_flags(&argc, argv) == -EPERM;
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 100000000; i++) {
        sum += i;
    }
    return (pprof_configure("") != 0) + (refused ? 3 : 0);
}
C
# The library inside: the loader ignores LD_PRELOAD and LD_LIBRARY_PATH for such a program.
cc -I "$SRC/include" -O1 -o host host.c "$BUILD/lib/libpprof.a" -lz -lpthread -ldl
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
as_nobody ./host || skip "another user cannot run programs here"

as_nobody env LIBPPROF="cpu:1000,file=$work/open/plain.pb.gz" ./host
[ -s open/plain.pb.gz ] || fail "an ordinary program that has the library inside is not profiled"
chown 0:0 host
chmod 4755 host
expect_equal "status of the setuid program, whose flags are refused" 3 \
    "$(status as_nobody ./host -cpuprofile="$work/open/flag.pb.gz")"
expect_no_file open/flag.pb.gz
as_nobody env LIBPPROF="cpu:1000,log=$work/open/log,file=$work/open/setuid.pb.gz" \
    CPUPROFILE="$work/open/g.pb.gz" ./host || true
expect_no_file open/setuid.pb.gz
expect_no_file open/g.pb.gz
expect_no_file open/log
as_nobody env LIBPPROF="cpu,nonsense,file=$work/open/pre.pb.gz" LD_PRELOAD="$library" ./host 2>errors || true
expect_no_file open/pre.pb.gz
! grep -q nonsense errors || fail "the options were read: $(cat errors)"
echo ok
