# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# pgo.sh: what the scripts about profiles for compilers share. A script includes it after lib.sh.

# write_program: program.c, in which a loop of often() is hot; step() is inlined there, twist() called through a pointer.
write_program() {
    cat >program.c <<'END'
static inline unsigned step(unsigned x)
{
    return x * 1103515245u + 12345u;
}

__attribute__((noinline)) static unsigned twist(unsigned x)
{
    for (int i = 0; i < 4; i++) {
        x ^= x >> 3;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static unsigned (*volatile chosen)(unsigned) = twist;

__attribute__((noinline)) static unsigned often(unsigned n)
{
    unsigned x = n;
    for (unsigned i = 0; i < n; i++) {
        x = step(x);
        __asm__ volatile("" : "+r"(x));
        x = chosen(x);
    }
    return x;
}

int main(void)
{
    unsigned sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += often(30000000u);
    }
    return sum == 1;
}
END
}

# build_nameless FLAGS...: ./program, of which main() and a function without a symbol are hot. Before this, in a section of its own, is
# sizeless(), whose symbol has no size; after it is one more function.
build_nameless() {
    for section in sizeless after; do
        cat >$section.s <<END
    .section .$section,"ax",%progbits
    .globl $section
    .type $section,%function
$section:
    nop
    .section .note.GNU-stack,"",%progbits
END
    done
    cat >nameless.c <<'END'
__attribute__((section(".nameless"))) unsigned nameless(unsigned n)
{
    unsigned x = n;
    for (unsigned i = 0; i < n; i++) {
        x = x * 1103515245u + 12345u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}
END
    cat >main.c <<'END'
unsigned nameless(unsigned n);

int main(void)
{
    unsigned sum = 1;
    for (unsigned i = 0; i < 400000000u; i++) {
        sum = sum * 1103515245u + 12345u;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum + nameless(400000000u) == 1;
}
END
    { cc -O2 -c nameless.c && cc -O2 "$@" -o program main.c sizeless.s nameless.o after.s; } || fail "cc nameless.c"
    expect_equal "the order of functions" "sizeless nameless after" \
        "$(nm -n program | sed -nE 's/.* T (sizeless|nameless|after)$/\1/p' | xargs)"
    objcopy -N nameless program || fail "objcopy"
}
