#!/bin/sh
# SPDX-License-Identifier: MIT
#
# jemalloc.sh: a real jemalloc with its profiler, linked into a Rust program: what libpprof has of its samples in use is
# what jemalloc's own dump has, block for block and byte for byte, with realloc, threads that end, and frees by
# other threads. Not part of ./test.sh: cargo has to fetch jemalloc's source, and builds it for minutes.
#
#   BUILD=$PWD/build/release SRC=$PWD [CARGO_TARGET_DIR=FOLDER] sh test/extra/jemalloc.sh
#
# Needs cargo, cc, make, curl and go. CARGO_TARGET_DIR keeps what was built for the next run.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
for tool in cargo cc make curl go; do
    command -v $tool >/dev/null || skip "no $tool"
done
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$work/target}
export CARGO_TARGET_DIR

mkdir -p crate/src
cat >crate/Cargo.toml <<'TOML'
[package]
name = "own-jemalloc"
version = "0.1.0"
edition = "2021"

[dependencies]
tikv-jemallocator = { version = "0.7", features = ["profiling"] }
tikv-jemalloc-sys = "0.7"
TOML
cat >crate/src/main.rs <<'RUST'
use std::io::{stdin, stdout, Write};

#[global_allocator]
static GLOBAL: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[inline(never)]
fn grows(bytes: usize) -> Vec<u8> {
    let mut block: Vec<u8> = Vec::with_capacity(16);
    while block.len() < bytes {
        block.push(1);
    }
    block
}

#[inline(never)]
fn allocates(bytes: usize) -> Vec<u8> {
    vec![1; bytes]
}

fn work(seed: usize) -> Vec<Vec<u8>> {
    let mut kept = Vec::new();
    for i in 0..20000 {
        let n = (seed * 7919 + i * 104729) % 5000;
        let block = if i % 2 == 0 { allocates(n) } else { grows(n) };
        if i % 3 == 0 {
            kept.push(block);
        }
    }
    kept
}

fn main() {
    let threads: Vec<_> = (0..4).map(|i| std::thread::spawn(move || work(i))).collect();
    let mut all: Vec<Vec<Vec<u8>>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    all.pop();
    let mut line = String::with_capacity(64);
    print!("ready\n");
    stdout().flush().unwrap();
    stdin().read_line(&mut line).unwrap();
    let name = c"dump.heap".as_ptr();
    let error = unsafe {
        let at = std::ptr::addr_of!(name) as *mut std::ffi::c_void;
        let none = std::ptr::null_mut();
        tikv_jemalloc_sys::mallctl(c"prof.dump".as_ptr(), none, std::ptr::null_mut(), at, 8)
    };
    assert_eq!(error, 0);
    std::mem::forget(all);
    std::mem::forget(line);
}
RUST
(cd crate && cargo build --release >"$work/cargo.out" 2>&1) || skip "cargo: $(tail -n 3 "$work/cargo.out")"
program=$CARGO_TARGET_DIR/release/own-jemalloc

compare() { # LG_SAMPLE
    rm -f ./*.heap in out socket
    mkfifo in out
    _RJEM_MALLOC_CONF=prof:true,prof_unbias:false,lg_prof_sample:$1 LD_PRELOAD=$library \
        LIBPPROF=heap:64g,http=unix:$work/socket,file=$work/p.pb.gz "$program" <in >out &
    started="$started $!"
    exec 3>in
    read -r line <out
    expect_equal "the program" ready "$line"
    curl -sS --unix-socket socket 'http://localhost/debug/pprof/heap?debug=1' >ours.txt
    echo >&3
    exec 3>&-
    wait $!
    # jemalloc, without its corrections for old readers: "  t*: OBJECTS: BYTES [...]". Ours: rows of raw samples, "OBJECTS: BYTES [...] @ ...".
    theirs=$(sed -n 's/^ *t\*: \([0-9]*\): \([0-9]*\) .*/\1 \2/p' dump.heap | head -n 1)
    ours=$(awk '/^[0-9]+: [0-9]+ \[/ && !/mmap/ { objects += $1; bytes += $2 } END { print objects, bytes }' ours.txt)
    echo "2^$1: in use, sampled: $ours of libpprof, $theirs of jemalloc"
    expect_equal "blocks and bytes in use, one in 2^$1" "$theirs" "$ours"
    go tool pprof -top -sample_index=inuse_space p.pb.gz >top.txt 2>/dev/null
    expect_contains "the functions" top.txt allocates
    expect_equal "frames of jemalloc" "" "$(grep 'rjem\|rallocx\|mallocx' top.txt || true)"
}

compare 8
compare 14
compare 19
echo ok
