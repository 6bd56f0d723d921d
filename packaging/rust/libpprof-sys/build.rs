// SPDX-License-Identifier: MIT
//
// build.rs: where libpprof is: in the folder LIBPPROF_LIB_DIR, or where pkg-config says.

use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=LIBPPROF_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-lib=dylib=pprof");
    if let Ok(folder) = env::var("LIBPPROF_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder);
        return;
    }
    let asked = Command::new("pkg-config").args(["--libs-only-L", "libpprof"]).output();
    match asked {
        Ok(answer) if answer.status.success() => {
            for word in String::from_utf8_lossy(&answer.stdout).split_whitespace() {
                println!("cargo:rustc-link-search=native={}", word.trim_start_matches("-L"));
            }
        }
        _ => println!("cargo:warning=pkg-config does not know libpprof: set LIBPPROF_LIB_DIR, or the linker looks by itself"),
    }
}
