#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, the beginnings of musl's objects (crti.o) have no landings, so none says that it has
#
# test_landings_aarch64.sh: every object that is built for aarch64 says that it may run with BTI and pointer authentication (a
# program loses the protection by one that does not), and whatever address a pointer of a library may have, begins with
# a landing.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need readelf
readelf -h "$BUILD/lib/libpprof.so.0" | grep -q AArch64 || skip "not built for aarch64"
dump=aarch64-linux-gnu-objdump
command -v $dump >/dev/null || dump=objdump
need $dump

archives=$(find "$BUILD/lib" -name 'libpprof*.a' ! -name libpprof_remote.a) # that one is cpprof's
[ "$(echo "$archives" | wc -l)" -ge 2 ] || fail "there are no archives in $BUILD/lib: $archives"
for archive in $archives; do
    readelf -nW "$archive" | awk '/^File: / { file = $2; all[file] } /AArch64 feature: BTI, PAC/ { says[file] }
        END { for (f in all) if (!(f in says)) print f }' >silent
    expect_equal "objects that do not say that they may run with BTI" "" "$(tr '\n' ' ' <silent)"
    [ "$(readelf -nW "$archive" | grep -c 'feature: BTI, PAC')" -ge 1 ] || fail "$archive has no notes"
done

for object in "$BUILD"/lib/libpprof*.so.[0-9]; do
    # Exported functions, and all code addresses that the loader stores: tables of functions, constructors.
    readelf -W --dyn-syms "$object" | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" { print $2 }' >taken
    readelf -SW "$object" | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print $3, $5 }' >code
    readelf -rW "$object" | awk '$3 ~ /^R_AARCH64_(RELATIVE|ABS64|IRELATIV)/ { print $NF }' | awk '
        function number(hex,   n, i) {
            for (i = 1; i <= length(hex); i++)
                n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        NR == FNR { from[NR] = number($1); to[NR] = from[NR] + number($2); next }
        { for (i in from) if (number($1) >= from[i] && number($1) < to[i]) printf "%16s\n", $1 }
    ' code - | tr ' ' 0 >>taken
    [ -s taken ] || fail "$object has no functions"
    # bti c, bti jc, paciasp, pacibsp
    $dump -d "$object" | awk '$2 ~ /^d50324(5f|df)$|^d50323(3f|7f)$/ { sub(/:.*/, ""); gsub(/ /, ""); printf "%16s\n", $0 }' |
        tr ' ' 0 | sort -u >landings
    # A handler returns to pp_signal_return: no jump. What start files and archives of libc and libgcc bring is the system's.
    readelf -sW "$object" | awk '$8 ~ /^(pp_signal_return|frame_dummy|__do_global_dtors_aux|init_have_lse_atomics|at_quick_exit|atexit|(__)?pthread_atfork)$/ { print $2 }' >>landings
    missing=$(sort -u taken | awk 'NR == FNR { landing[$1]; next } !($1 in landing)' landings - | tr '\n' ' ')
    expect_equal "code of $object that is called by its address and does not begin with a landing" "" "$missing"
done
echo ok
