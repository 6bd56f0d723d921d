// SPDX-License-Identifier: MIT
//
// primes.rs: writes its CPU profile to primes.cpu.pb.gz, and its heap profile to primes.heap.pb.gz.
//
//     LIBPPROF_LIB_DIR=... cargo run --release --example primes && go tool pprof -top primes.cpu.pb.gz

use libpprof_sys::*;
use std::{fs::File, mem::size_of, os::unix::io::AsRawFd, time::Instant};

#[inline(never)]
fn is_prime(n: u64) -> bool {
    (2..).take_while(|d| d * d <= n).all(|d| n % d != 0)
}

#[inline(never)]
fn collect_primes(seconds: u64) -> Vec<u64> {
    let begun = Instant::now();
    (2..).take_while(|_| begun.elapsed().as_secs() < seconds).filter(|&n| is_prime(n)).collect()
}

fn main() -> std::io::Result<()> {
    let cpu = File::create("primes.cpu.pb.gz")?;
    let heap = File::create("primes.heap.pb.gz")?;
    // SAFETY: the files live until the profiles are written.
    unsafe {
        pprof_set_mem_profile_rate(4096);
        let options = pprof_cpu_options { size: size_of::<pprof_cpu_options>(), hz: 500, ..Default::default() };
        assert_eq!(pprof_start_cpu_profile_opts(pprof_writer_fd(cpu.as_raw_fd()), &options), 0);
    }
    let primes = collect_primes(1);
    unsafe {
        assert_eq!(pprof_stop_cpu_profile(), 0);
        assert_eq!(pprof_write_heap_profile(pprof_writer_fd(heap.as_raw_fd())), 0);
    }
    println!("{}", primes.len() > 1000);
    Ok(())
}
