#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no Rust library for musl
# nightly: 3
#
# test_rust_crate.sh: the crate libpprof-sys declares every function of <pprof.h> and no other; its example is built with
# cargo alone, and writes profiles with its names.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

crate=$SRC/packaging/rust/libpprof-sys
sed '/^#define/d; /PPROF_AFTER_CALL/,/^}/d' "$SRC/include/pprof.h" | tr '\n' ' ' | grep -oE 'PPROF_API [^;]*' |
    grep -oE 'pprof_[a-z_0-9]+\(' | tr -d '(' | sort -u >header
sed -n 's/.*pub fn \(pprof_[a-z_0-9]*\).*/\1/p' "$crate/src/lib.rs" | sort -u >declared
[ -s header ] || fail "no functions in pprof.h"
expect_equal "functions of pprof.h that the crate does not have, or the other way round" "" \
    "$(sort header declared | uniq -u | tr '\n' ' ')"

command -v cargo >/dev/null && command -v rustc >/dev/null || skip "the declarations are complete; no cargo"
mkdir folder
cp -r "$crate" folder/
cd folder/libpprof-sys
LIBPPROF_LIB_DIR=$BUILD/lib CARGO_TARGET_DIR=$work/target cargo build --offline --release --example primes >"$work/cargo.out" 2>&1 ||
    fail "cargo: $(cat "$work/cargo.out")"
cd "$work"
expect_equal "the example" true "$(LD_LIBRARY_PATH=$BUILD/lib target/release/examples/primes)"
"$BUILD/bin/cpprof" top primes.cpu.pb.gz >top.txt 2>&1 || fail "$(cat top.txt)"
expect_contains "its CPU profile" top.txt is_prime
"$BUILD/bin/cpprof" top --sample alloc_space primes.heap.pb.gz >top.txt 2>&1 || fail "$(cat top.txt)"
expect_contains "its heap profile" top.txt collect_primes
echo ok
