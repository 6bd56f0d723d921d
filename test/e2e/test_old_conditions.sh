#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_old_conditions.sh: programs that are linked to the conditions of before glibc 2.3.2 come to the old
# functions, with their profiles; those of today to today's.
# libc: glibc, musl's functions have one version each
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc readelf timeout

case $(uname -m) in
x86_64) ;;
*) skip "one version of conditions on $(uname -m)" ;;
esac
readelf -W --dyn-syms "$victims/old_conditions" >symbols
expect_contains "symbols" symbols "pthread_cond_wait@GLIBC_2.2.5"
expect_contains "symbols" symbols "pthread_cond_wait@GLIBC_2.3.2"

# Not linked to libc, so that the linker finds no version to ask for.
cat >plain.c <<'EOC'
extern int pthread_cond_wait(void *, void *), pthread_cond_timedwait(void *, void *, const void *),
    pthread_cond_signal(void *);
int wait_plainly(void *c, void *m) { return pthread_cond_wait(c, m); }
int timedwait_plainly(void *c, void *m, const void *t) { return pthread_cond_timedwait(c, m, t); }
int signal_plainly(void *c) { return pthread_cond_signal(c); }
EOC
cc -shared -fPIC -fno-builtin -nostdlib -Wl,-z,lazy -o plain.so plain.c
readelf -W --dyn-syms plain.so >symbols
! grep -q '@GLIBC' symbols || fail "plain.so asks for versions: $(cat symbols)"

for which in old now ./plain.so; do
    expect_equal "conditions '$which' without the library" 0 "$(status timeout 60 "$victims/old_conditions" $which)"
    for options in file=/dev/null block:1,mutex:1,file=c.%k.pb.gz; do
        rm -f c.*
        expect_equal "conditions '$which' with $options" 0 "$(status timeout -s KILL 60 env \
            LIBPPROF="$options" LD_PRELOAD="$library" "$victims/old_conditions" $which)"
    done
    raw c.block.pb.gz
    expect_at_least "waits in takes_turns" 1 "$(weight_with c.block.pb.gz.raw pthread_cond_wait takes_turns)"
    expect_at_least "the wait that runs out" 1 "$(weight_with c.block.pb.gz.raw pthread_cond_timedwait main)"
done
echo ok
