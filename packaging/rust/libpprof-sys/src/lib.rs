// SPDX-License-Identifier: MIT
//
// lib.rs: <pprof.h>, declaration by declaration. The header documents the functions.

#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void}; // core::ffi has them since Rust 1.64

/// `pid_t`.
pub type pid_t = c_int;

pub const PPROF_ENGINE_AUTO: c_int = 0;
pub const PPROF_ENGINE_TIMER: c_int = 1;
pub const PPROF_ENGINE_PERF: c_int = 2;
pub const PPROF_FORMAT_PROTO: c_int = 0;
pub const PPROF_FORMAT_LEGACY: c_int = 1;
pub const PPROF_DEBUG_BARE: c_int = -1;
pub const PPROF_RATE_READ: i64 = -1;
pub const PPROF_RATE_OFF: i64 = 0;
pub const PPROF_RATE_ALL: i64 = 1;
pub const PPROF_MAX_STACK: usize = 128;

#[repr(C)]
pub struct pprof_profile {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct pprof_labels {
    opaque: [u8; 0],
}

/// `write` returns 0 or a negative errno, and takes everything.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pprof_writer {
    pub write: Option<unsafe extern "C" fn(ctx: *mut c_void, data: *const c_void, len: usize) -> c_int>,
    pub ctx: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct pprof_cpu_options {
    pub size: usize,
    pub hz: c_int,
    pub engine: c_int,
    pub format: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pprof_stack {
    pub depth: u32,
    pub pc: [usize; PPROF_MAX_STACK],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pprof_mem_record {
    pub alloc_bytes: i64,
    pub free_bytes: i64,
    pub alloc_objects: i64,
    pub free_objects: i64,
    pub stack: pprof_stack,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pprof_block_record {
    pub count: i64,
    pub cycles: i64,
    pub stack: pprof_stack,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pprof_thread_record {
    pub tid: pid_t,
    pub labels: *const pprof_labels,
    pub stack: pprof_stack,
}

extern "C" {
    pub fn pprof_writer_fd(fd: c_int) -> pprof_writer;
    /// `file` is a `FILE *`.
    pub fn pprof_writer_stdio(file: *mut c_void) -> pprof_writer;

    pub fn pprof_start_cpu_profile(writer: pprof_writer) -> c_int;
    pub fn pprof_start_cpu_profile_opts(writer: pprof_writer, options: *const pprof_cpu_options) -> c_int;
    pub fn pprof_stop_cpu_profile() -> c_int;
    pub fn pprof_start_wall_profile(writer: pprof_writer, hz: c_int) -> c_int;
    pub fn pprof_stop_wall_profile() -> c_int;

    pub fn pprof_new_profile(name: *const c_char) -> *mut pprof_profile;
    pub fn pprof_lookup(name: *const c_char) -> *mut pprof_profile;
    pub fn pprof_profiles(profiles: *mut *mut pprof_profile, capacity: usize) -> usize;
    pub fn pprof_profile_name(profile: *const pprof_profile) -> *const c_char;
    pub fn pprof_profile_count(profile: *mut pprof_profile) -> usize;
    pub fn pprof_profile_add(profile: *mut pprof_profile, value: *const c_void, skip: c_int) -> c_int;
    pub fn pprof_profile_remove(profile: *mut pprof_profile, value: *const c_void) -> c_int;
    pub fn pprof_profile_write(profile: *mut pprof_profile, writer: pprof_writer, debug: c_int) -> c_int;
    pub fn pprof_write_heap_profile(writer: pprof_writer) -> c_int;

    pub fn pprof_set_mem_profile_rate(bytes: i64) -> i64;
    pub fn pprof_set_block_profile_rate(nanoseconds: i64) -> i64;
    pub fn pprof_set_mutex_profile_fraction(fraction: i64) -> i64;
    pub fn pprof_cycles_per_second() -> i64;

    pub fn pprof_mem_record_inuse_bytes(r: *const pprof_mem_record) -> i64;
    pub fn pprof_mem_record_inuse_objects(r: *const pprof_mem_record) -> i64;
    pub fn pprof_mem_profile(records: *mut pprof_mem_record, capacity: usize, n: *mut usize, inuse_zero: bool) -> bool;
    pub fn pprof_block_profile(records: *mut pprof_block_record, capacity: usize, n: *mut usize) -> bool;
    pub fn pprof_mutex_profile(records: *mut pprof_block_record, capacity: usize, n: *mut usize) -> bool;
    pub fn pprof_thread_profile(records: *mut pprof_thread_record, capacity: usize, n: *mut usize) -> bool;
    pub fn pprof_threadcreate_profile(records: *mut pprof_thread_record, capacity: usize, n: *mut usize) -> bool;
    pub fn pprof_thread_records_release(records: *mut pprof_thread_record, n: usize);
    pub fn pprof_stack_text(buffer: *mut c_char, capacity: usize, all: bool) -> usize;
    pub fn pprof_callers(skip: c_int, pcs: *mut usize, capacity: usize) -> usize;

    pub fn pprof_heap_record_alloc(object: *mut c_void, size: usize);
    pub fn pprof_heap_record_free(object: *mut c_void);
    pub fn pprof_heap_record_sweep(object: *mut c_void);
    pub fn pprof_heap_cycle_next();
    pub fn pprof_heap_cycle_flush();
    pub fn pprof_heap_cycle_post_sweep();
    pub fn pprof_set_collector(collect: Option<unsafe extern "C" fn()>);

    pub fn pprof_labels_new(parent: *const pprof_labels, key_values: *const *const c_char, pairs: usize) -> *mut pprof_labels;
    pub fn pprof_labels_ref(labels: *mut pprof_labels) -> *mut pprof_labels;
    pub fn pprof_labels_unref(labels: *mut pprof_labels);
    pub fn pprof_set_thread_labels(labels: *mut pprof_labels) -> *mut pprof_labels;
    pub fn pprof_thread_labels() -> *mut pprof_labels;
    pub fn pprof_label(labels: *const pprof_labels, key: *const c_char) -> *const c_char;
    pub fn pprof_for_labels(
        labels: *const pprof_labels,
        each: Option<unsafe extern "C" fn(ctx: *mut c_void, key: *const c_char, value: *const c_char) -> bool>,
        ctx: *mut c_void,
    );
    pub fn pprof_do(
        key_values: *const *const c_char,
        pairs: usize,
        function: Option<unsafe extern "C" fn(arg: *mut c_void)>,
        arg: *mut c_void,
    );

    pub fn pprof_configure(options: *const c_char) -> c_int;
    pub fn pprof_parse_flags(argc: *mut c_int, argv: *mut *mut c_char) -> c_int;
    pub fn pprof_version_number() -> c_uint;
    pub fn pprof_version_string() -> *const c_char;
}
