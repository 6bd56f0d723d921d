// SPDX-License-Identifier: MIT
//
// overflow.rs: Rust: a thread that overflows its stack, which the runtime reports from its handler of SIGSEGV on an
// alternate stack, and then aborts.
#[inline(never)]
fn deeper(n: u64) -> u64 {
    let room = [n; 64];
    if n == u64::MAX {
        return 0;
    }
    deeper(n + 1) + unsafe { std::ptr::read_volatile(&room[(n % 64) as usize]) }
}

fn main() {
    let thread = std::thread::Builder::new().name("deep".to_string()).spawn(|| deeper(0)).unwrap();
    println!("{:?}", thread.join().is_ok());
}
