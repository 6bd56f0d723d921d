#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_installed_objects.sh: what a program is linked to takes no name from it. No installed archive defines a
# global name of another kind than pprof_*, pp_* and the hooks (tools/zones/exports.allow).
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cmake cc nm

cmake --install "$BUILD" --prefix "$work/there" >install.out 2>&1 || fail "cmake --install: $(cat install.out)"
libraries=$(dirname "$(find there -name libpprof.so.0)")
archives=$(find there -name '*.a')
[ "$(echo "$archives" | wc -l)" -ge 2 ] || fail "the archives are not installed: $archives"

# ---- names ----

awk '/^[^#]/ { sub(/@.*/, "", $1); print $1 }' "$SRC/tools/zones/exports.allow" >hooks
for archive in $archives; do
    nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(pprof_|pp_)/ {
        sub(/@.*/, "", $3); sub(/^__wrap_/, "", $3); print $3 }' | sort -u >names
    expect_equal "names that $archive takes from programs" "" "$(grep -vxFf hooks names | tr '\n' ' ')"
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
echo ok
