#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_hooks.sh: what stands between the program and libc: versioned symbols come to our hooks, a
# cancelled thread ends where it would end without us, fork does not wait for what waits for fork, locks
# do not wait for the loader.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout readelf

# Ours have no version, so that they stand in front of all.
readelf -W --dyn-syms "$library" >ours
for name in pthread_create thrd_create _exit _Exit sigaction signal dlclose; do
    awk -v name="$name" '$7 != "UND" && $8 == name { found = 1 } END { exit !found }' ours ||
        fail "the library defines no unversioned $name"
done
if [ -e "$victims/versioned" ]; then # glibc before 2.34 has one version of each
    readelf -W --dyn-syms "$victims/versioned" >symbols
    expect_contains "symbols" symbols "pthread_create@GLIBC_2.34"
    expect_contains "symbols" symbols "pthread_create@GLIBC_2.$([ "$(uname -m)" = aarch64 ] && echo 17 || echo 2.5)"
    expect_equal "status of versioned" 0 "$(status record "$work/v.pb.gz" "$victims/versioned")"
    raw v.pb.gz
    # Two threads: each has its entry as the only function of the program's own.
    expect_work "weight of versioned_entry" 200 "$(weight_with v.pb.gz.raw versioned_entry)" 20
fi
# A thread that came through the hook has its account from its first nanosecond, one that was found
# later has not: its weight would be short by some of the quarter of a second between two looks.

early= # the library by which use_atfork registers its handlers
if is_musl "$library"; then
    early=$work/early.so
    printf 'void register_early(void);\n__attribute__((constructor)) static void early(void) { register_early(); }\n' >early.c
    cc -shared -fPIC -o "$early" early.c
fi
for way in join loader; do
    for options in cpu:1000 cpu:1000,subprocesses; do
        mkdir -p profiles
        expect_equal "status of use_atfork $way with $options" 42 "$(status timeout -s KILL 300 env \
            LIBPPROF="$options,file=$work/profiles/%p" LD_PRELOAD="${early:+$early:}$library" \
            "$victims/use_atfork" $way)"
        rm -r profiles
    done
done

# The child is told of the fork before its first thread is there, though another handler's turn comes first.
mkdir created
expect_equal "status of use_atfork create" 42 "$(status env LIBPPROF="cpu:1000,subprocesses,file=$work/created/%p.pb.gz" \
    LD_PRELOAD="${early:+$early:}$library" "$victims/use_atfork" create)"
expect_equal "profiles of use_atfork create" 2 "$(find created -type f | wc -l)"
created=0
for file in created/*.pb.gz; do
    raw "$file"
    created=$((created + $(weight_with "$file.raw" child_entry)))
done
expect_work "weight of child_entry" 100 "$created" 20

echo 'extern void in_constructor(void); __attribute__((constructor)) void begin(void) { in_constructor(); }' >slow.c
cc -shared -fPIC -o slow.so slow.c
for options in file=/dev/null block:1,mutex:1,file=/dev/null; do
    expect_equal "status of loader_lock with $options" 42 "$(status timeout -s KILL 300 env \
        LIBPPROF="$options" LD_PRELOAD="$library" "$victims/loader_lock" ./slow.so)"
done

expect_equal "status of cancelled" 42 "$(status "$victims/cancelled" | tail -n 1)"
expect_equal "status of cancelled" 42 "$(status timeout -s KILL 300 env \
    LIBPPROF="cpu:1000,file=$work/c.pb.gz" LD_PRELOAD="$library" "$victims/cancelled" | tail -n 1)"
raw c.pb.gz
expect_work "weight of burn_ms in compute_entry" 1000 "$(weight_with c.pb.gz.raw burn_ms compute_entry)" 50
echo ok
