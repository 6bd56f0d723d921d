#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_archive.sh: whichever of these functions a program refers to, the linker takes the start-up from libpprof.a, too.
# Without the start-up nothing would begin, and nothing would be written at the end.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need ld nm

for function in pprof_configure pprof_parse_flags pprof_lookup pprof_profiles pprof_do pprof_set_thread_labels \
    pprof_start_cpu_profile pprof_set_mem_profile_rate pprof_mem_profile pprof_write_heap_profile pprof_set_collector \
    pprof_set_block_profile_rate pprof_set_mutex_profile_fraction pprof_thread_profile pprof_stack_text pprof_new_profile \
    pprof_http_handle; do
    ld -r -u $function -o part.o "$BUILD/lib/libpprof.a" 2>errors || fail "$function: $(cat errors)"
    nm part.o >symbols
    expect_contains "what $function brings" symbols " T $function"
    expect_contains "what $function brings" symbols " pp_preload_link"
done
echo ok
