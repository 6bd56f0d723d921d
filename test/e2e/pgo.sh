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
