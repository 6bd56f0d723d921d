#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_guest.sh: what a program sees of itself: threads, descriptors, environment, signals, limits. It is
# the same without the library, with it idle, and with it profiling.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go


facts=$victims/facts
env -i A=1 B=2 "$facts" >plain
env -i A=1 B=2 LD_PRELOAD="$library" "$facts" >idle
diff plain idle >&2 || fail "an idle library is noticed"
env -i A=1 LD_PRELOAD="$library" B=2 LIBPPROF="cpu:1000,file=$work/p.pb.gz" "$facts" 60 >profiling
diff plain profiling >&2 || fail "a profile is noticed"
raw p.pb.gz
grep -qx 'single-threaded 1' plain || fail "the program is not single-threaded even without us"

# Handed on only if that was asked for; another library beside ours stays.
environment() { # NAME: of the program
    sed -n "s/^environment $1=//p" facts.out
}
other=$work/libother.so.1
cp "$library" "$other" # any library will do, under another name
env -i LD_PRELOAD="$library" LIBPPROF=subprocesses "$facts" >facts.out
expect_equal "LD_PRELOAD with subprocesses" "$library" "$(environment LD_PRELOAD)"
expect_equal "LIBPPROF with subprocesses" subprocesses "$(environment LIBPPROF)"
if is_musl "$library"; then
    zlib=$(LC_ALL=C readelf -dW "$library" | sed -n 's/.*R[UN]*PATH.*\[\(.*\)\].*/\1/p')/libz.so.1
    [ -e "$zlib" ] || zlib=
elif command -v ldconfig >/dev/null || [ -x /sbin/ldconfig ]; then
    zlib=$(PATH=$PATH:/sbin ldconfig -p | sed -n 's/.*libz\.so\.1 .*\(x86-64\|AArch64\).* => //p' | head -n 1)
fi
if [ -n "${zlib:-}" ]; then
    for list in "$library:$zlib" "$zlib:$library" "$zlib $library" "$library $zlib"; do
        env -i LD_PRELOAD="$list" "$facts" >facts.out
        expect_equal "LD_PRELOAD after \"$list\"" "$zlib" "$(environment LD_PRELOAD)"
    done
fi
echo ok
