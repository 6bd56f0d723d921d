#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 3
#
# test_odd_hosts_coroutines.sh: coroutines on small stacks, made by swapcontext, by siglongjmp, in assembler, as
# protothreads, by GNU Pth, by Boost.Context and by Boost.Fiber; with an alternate signal stack of the host's that is
# large, too small, or not there.
#
# What is to be expected: SIGPROF is caught on the host's alternate stack or on the stack that it interrupts.
# One of them must have room for the kernel's frame (AT_MINSIGSTKSZ at most: 12 KiB where there is AVX-512 and AMX,
# below 4 KiB elsewhere) and for a small handler. A host where neither has (4 KiB coroutines without an alternate
# stack) cannot take any signal, and no profiler of this kind can live in it; such pairs are left out here, by
# what the victim says of the machine. Everything else has to live, in both directions: a small coroutine by the
# alternate stack, and a large one whose host has an alternate stack that is too small.
# shellcheck source=test/e2e/odd/hosts.sh
. "$SRC/test/e2e/odd/hosts.sh"
need go timeout cc
is_musl "$library" || need c++ # Debian has none for musl

victim=$victims/odd_coroutines
room() { "$victim" room | sed -n "s/^$1 //p"; }
room_alternate=$(room alternate)
room_stack=$(room stack)
least=$(room least) # 2048 on x86-64, 5120 on aarch64

# lives STACK ALTERNATE: there is room for a signal, in the one or in the other.
lives() { [ "$1" -ge "$room_stack" ] || [ "$2" -ge "$room_alternate" ]; }

# 8192 is SIGSTKSZ of old headers. 16384 is PTHREAD_STACK_MIN.
for way in context jump bare proto; do
    for pair in 4096-65536 8192-65536 4096-8192 8192-8192 16384-0 "16384-$least" 16384-8192 16384-65536 "65536-$least"; do
        stack=${pair%-*}
        alternate=${pair#*-}
        # The way "jump" enters its stacks by signals.
        [ $way != jump ] || lives "$stack" 0 || continue
        ! lives "$stack" "$alternate" || odd_host "$way-$pair" "$victim" $way "$stack" "$alternate" 1
    done
done

# build NAME FILE FLAGS...: fails if there is not what it needs.
build() {
    build_name=$1
    build_file=$2
    shift 2
    case $build_file in
    *.cc) ! is_musl "$library" && c++ -O1 -g -fomit-frame-pointer -pthread -o "$build_name" "$odd/$build_file" "$@" 2>/dev/null ;;
    *) cc -O1 -g -fomit-frame-pointer -pthread -o "$build_name" "$odd/$build_file" "$@" 2>/dev/null ;;
    esac
}
if build pth pth.c -lpth; then odd_host pth ./pth; else not_here libpth-dev; fi
if build context boost_context.cc -lboost_context; then
    odd_host boost-context ./context
else
    not_here libboost-context-dev
fi
if build fibers boost_fiber.cc -lboost_fiber -lboost_context; then
    odd_host boost-fiber ./fibers
else
    not_here libboost-fiber-dev
fi
odd_verdict
