// SPDX-License-Identifier: MIT
//
// threads.rs: Rust: threads, each with an alternate stack for its overflow handler, that allocate, send through
// channels, panic and are caught.
use std::collections::HashMap;
use std::panic;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

fn work(number: u64) -> u64 {
    let mut words: HashMap<String, u64> = HashMap::new();
    let mut value = number;
    for i in 0..3000u64 {
        value = value.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *words.entry(format!("w{}", value % 97)).or_insert(0) += i;
    }
    words.values().sum::<u64>().wrapping_add(value)
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let (sender, receiver) = mpsc::channel();
    let total = Arc::new(Mutex::new(0u64));
    let mut threads = Vec::new();
    for number in 0..8u64 {
        let sender = sender.clone();
        let total = Arc::clone(&total);
        threads.push(thread::spawn(move || {
            for round in 0..20 {
                let result = panic::catch_unwind(|| {
                    let sum = work(number * 100 + round);
                    if round % 5 == 0 {
                        panic!("round {}", round);
                    }
                    sum
                });
                let sum = result.unwrap_or(1);
                let mut guard = total.lock().unwrap();
                *guard = guard.wrapping_add(sum);
                drop(guard);
                sender.send(sum).unwrap();
            }
        }));
    }
    drop(sender);
    let received = receiver.iter().fold(0u64, |a, b| a.wrapping_add(b));
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} {}", received, received == *total.lock().unwrap());
    std::process::exit(42);
}
