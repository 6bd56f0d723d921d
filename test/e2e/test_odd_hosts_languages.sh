#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_odd_hosts_languages.sh: programs whose runtime has stacks, signals and threads of its own: Go with cgo, Rust, and
# the Java virtual machine with -Xcheck:jni. (.NET is not in this distribution.)
# libc: glibc, its victims are the distribution's programs
# timeout: 300
# nightly: 3
# shellcheck source=test/e2e/odd/hosts.sh
. "$SRC/test/e2e/odd/hosts.sh"
need go timeout cc

odd_host deep "$victims/odd_deep"

cp "$odd/cgo.go" cgo.go
if CGO_ENABLED=1 GO111MODULE=off go build -o cgo cgo.go 2>go.errors; then
    odd_host go-cgo ./cgo
    # As above, but preemption by signals leaves more of them to us.
    export GODEBUG=asyncpreemptoff=1
    odd_host go-cgo-no-preemption ./cgo
    unset GODEBUG
else
    not_here "go with cgo"
fi

if command -v rustc >/dev/null && rustc -O -o threads "$odd/threads.rs" 2>rust.errors; then
    odd_host rust ./threads
    rustc -O -o overflow "$odd/overflow.rs" 2>rust.errors || fail "rustc: $(cat rust.errors)"
    # Thread numbers differ. The program aborts.
    HOST_NOISE='s/([0-9]*) //'
    HOST_PROFILE=none
    odd_host rust-overflow ./overflow
    HOST_NOISE=
    HOST_PROFILE=yes
else
    not_here rustc
fi

# A virtual machine that may look for its files: where they are is said by the link.
if command -v java >/dev/null && command -v javac >/dev/null && javac -d . "$odd/Checked.java" 2>java.errors; then
    home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
    native=
    if cc -O1 -fPIC -shared -I "$home/include" -I "$home/include/linux" -o libchecked.so "$odd/checked.c" 2>/dev/null; then
        native=$work/libchecked.so
    fi
    # shellcheck disable=SC2086 # a word or none
    odd_host java java -Xcheck:jni -Xmx64m -cp . Checked $native
else
    not_here javac
fi
odd_verdict
