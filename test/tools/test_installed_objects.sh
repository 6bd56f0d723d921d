#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_installed_objects.sh: what a program is linked to or loads takes nothing from it. No installed archive or library defines a
# global name of another kind than pprof_*, pp_* and the hooks (tools/zones/exports.allow). Every installed library, and
# every object of the archives, says that it may run with CET (x86); and whatever address a pointer of a library may have,
# begins with endbr64.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cmake cc nm readelf objdump

cmake --install "$BUILD" --prefix "$work/there" >install.out 2>&1 || fail "cmake --install: $(cat install.out)"
libraries=$(dirname "$(find there -name libpprof.so.0)")
archives=$(find there -name '*.a')
[ "$(echo "$archives" | wc -l)" -ge 2 ] || fail "the archives are not installed: $archives"
objects=$(find there -name '*.so*' -type f)
[ "$(echo "$objects" | wc -l)" -ge 2 ] || fail "the libraries are not installed: $objects"

# ---- names ----

awk '/^[^#]/ { sub(/@.*/, "", $1); print $1 }' "$SRC/tools/zones/exports.allow" >hooks
for archive in $archives; do
    # The base of all probes of a program is one weak symbol, whoever has them (src/arch/probe.h).
    nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(pprof_|pp_|_[.]stapsdt[.]base$)/ {
        sub(/@.*/, "", $3); sub(/^__wrap_/, "", $3); print $3 }' | sort -u >names
    expect_equal "names that $archive takes from programs" "" "$(grep -vxFf hooks names | tr '\n' ' ')"
done
for object in $objects; do
    nm -gD --defined-only "$object" | awk '$NF !~ /^pprof_/ { sub(/@.*/, "", $NF); print $NF }' | sort -u >names
    expect_equal "names that $object takes from programs" "" "$(grep -vxFf hooks names | tr '\n' ' ')"
done

cat >program.c <<'C'
#include <pprof_http.h>
#include <stdio.h>

int server_run(int value);
int server_run(int value)
{
    return value + 1;
}

int main(void)
{
    return pprof_http_serve("127.0.0.1:0") != 0 || puts("serves") < 0 || pprof_http_stop() != 0 || server_run(1) != 2;
}
C
cc program.c -o program -I there/include "$libraries/libpprof-http.a" "$libraries/libpprof.a" -lz 2>cc.err ||
    fail "a program with a function server_run: $(cat cc.err)"
expect_equal "the program with a function server_run" serves "$(./program 2>program.err)"

# ---- CET ----

[ "$(uname -m)" = x86_64 ] || skip "names are right; this architecture has no such notes"
cc -fcf-protection=full -c -o protected.o program.c -I there/include 2>/dev/null || skip "names are right; cc does not know CET"

for archive in $archives; do
    readelf -nW "$archive" | awk '/^File: / { file = $2; all[file] } /x86 feature:.* IBT, SHSTK/ { says[file] }
        END { for (f in all) if (!(f in says)) print f }' >silent
    expect_equal "objects that do not say that they may run with CET" "" "$(tr '\n' ' ' <silent)"
done

for object in $objects; do
    readelf -nW "$object" >notes
    expect_contains "the note of $object" notes "x86 feature: IBT, SHSTK"
    ! readelf -dW "$object" | grep -E '\((INIT|FINI)\)' || fail "$object begins or ends with C's _init or _fini"

    # Exported functions, and all code addresses that the loader stores: tables of functions, constructors.
    readelf -W --dyn-syms "$object" | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" { print $2 }' >taken
    readelf -SW "$object" | sed 's/^ *\[ *[0-9]*\]//' | awk '$7 ~ /X/ { print $3, $5 }' >code
    readelf -rW "$object" | awk '$3 ~ /^R_X86_64_(I?RELATIVE|64)/ { print $NF }' | awk '
        function number(hex,   n, i) {
            for (i = 1; i <= length(hex); i++)
                n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        NR == FNR { from[NR] = number($1); to[NR] = from[NR] + number($2); next }
        { for (i in from) if (number($1) >= from[i] && number($1) < to[i]) printf "%016s\n", $1 }
    ' code - | tr ' ' 0 >>taken
    [ -s taken ] || fail "$object has no functions"
    objdump -d "$object" | awk '/\tendbr64/ { sub(/:.*/, ""); gsub(/ /, ""); print }' | awk '{ printf "%16s\n", $1 }' |
        tr ' ' 0 | sort -u >landings
    # A handler returns to pp_signal_return: no jump.
    readelf -sW "$object" | awk '$8 == "pp_signal_return" { print $2 }' >>landings
    missing=$(sort -u taken | awk 'NR == FNR { landing[$1]; next } !($1 in landing)' landings - | tr '\n' ' ')
    expect_equal "code of $object that is called by its address and does not begin with endbr64" "" "$missing"
done
echo ok
