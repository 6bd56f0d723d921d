#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_tail_calls.sh: a function whose last act is a call that takes its stack is in that stack: gcc and clang, C and
# C++, at every optimisation. And the header stays one for all: without extensions, without macros, for a compiler
# that knows neither.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

program=$SRC/test/e2e/linked/tail_calls.c
compilers=0

# calls COMPILER OPTIONS...: compiles it, runs it with the trace, and looks for who calls.
calls() {
    rm -f program trace
    "$@" -I"$SRC/include" -Wall -Wextra -Werror -o program "$program" -L"$BUILD/lib" -lpprof \
        -Wl,-rpath,"$BUILD/lib" || fail "$*: does not compile"
    LIBPPROF=alloctrace,log=$work/trace ./program || fail "$*"
    for function in records_free records_sweep ends_cycle; do
        grep -q "0x[0-9a-f]* [_ZL0-9]*$function" trace || fail "$*: no $function in: $(cat trace)"
    done
}

for pair in gcc:c g++:c++ clang:c clang++:c++; do
    compiler=${pair%:*}
    command -v "$compiler" >/dev/null || continue
    # Others than the musl build's compile and link for glibc.
    ! is_musl "$library" || [ "$compiler" = gcc ] || continue
    compilers=$((compilers + 1))
    for option in -O0 -O1 -O2 -O3 -Os; do
        calls "$compiler" -x "${pair#*:}" "$option"
    done
    calls "$compiler" -x "${pair#*:}" -O2 -fno-plt -fno-pie -no-pie
done
[ "$compilers" -gt 0 ] || skip "no gcc, no clang"

# ---- the header ----

cat >header.c <<'END'
#include <pprof.h>
#include <pprof.h>
#ifdef __cplusplus
int in_scope(pprof_profile *p, const void *v) { return ::pprof_profile_add(p, v, 0); }
void in_scope_too(void (*f)(void *)) { ::pprof_do(NULL, 0, f, NULL); }
#endif
int (*pointer)(pprof_profile *, const void *, int) = pprof_profile_add;
void arguments(void (*f)(void *))
{
    if (f != NULL)
        pprof_do((const char *const[]){"a", "b", "c", "d"}, 2, f, NULL);
    else
        pprof_heap_record_free(NULL);
    (pprof_do)(NULL, 0, f, NULL);
}
END
cat >defines.c <<'END'
#define PPROF_NO_MACROS
#include <pprof.h>
int pprof_profile_add(pprof_profile *profile, const void *value, int skip)
{
    return profile == NULL && value == NULL ? skip : 0;
}
END
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for standard in c99 c11 gnu17; do
        $compiler -std=$standard -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -I"$SRC/include" -c header.c ||
            fail "$compiler -std=$standard"
        $compiler -std=$standard -pedantic -Wall -Wextra -Werror -I"$SRC/include" -c defines.c ||
            fail "$compiler -std=$standard, a function of its own"
    done
    $compiler -x c++ -std=c++11 -Wall -Wextra -Wshadow -Werror -Wno-pedantic -I"$SRC/include" -c header.c ||
        fail "$compiler as C++"
done
# What a compiler sees that is neither.
if command -v gcc >/dev/null; then
    gcc -std=c99 -pedantic -Werror -U__GNUC__ -E -I"$SRC/include" -o other.i header.c 2>/dev/null || true
    ! grep -q 'pprof_after_call_\|not_tail_called' other.i || fail "extensions where there is no __GNUC__"
fi
