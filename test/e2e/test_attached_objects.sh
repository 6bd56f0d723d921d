#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 2
#
# test_attached_objects.sh: the library in a program that has loaded it while it ran: programs and libraries that are bound
# in all sorts of ways, other allocators, and libraries that come and go.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"
need python3 cc

# compile NAME FLAGS...: the program, bound in another way.
compile() {
    compile_name=$1
    shift
    cc -O1 -g -D_GNU_SOURCE -fno-inline -fno-optimize-sibling-calls -o "$compile_name" \
        "$SRC/test/e2e/victims/attached.c" "$@" -pthread -ldl
}

# library NAME FLAGS...: the plugin.
plugin() {
    plugin_name=$1
    shift
    cc -O1 -g -fPIC -shared -fno-inline -o "$plugin_name" "$SRC/test/e2e/attach/plugin.c" "$@"
}

# truth WHAT: allocates before, during and after, and compares.
truth() {
    tell allocate 300 >/dev/null
    tell release >/dev/null
    tell fork >/dev/null
    tell allocate 300 >/dev/null
    settle
    attach_again
    answer "configure heap:1" >/dev/null
    tell allocate 1000 >/dev/null
    expect_equal "$1: bytes in use" 1000000 "$(in_use keep_blocks)"
    tell release >/dev/null
    expect_equal "$1: bytes in use after the release" 0 "$(in_use keep_blocks)"
    tell allocate 10 >/dev/null
    expect_equal "$1: a child" "child 0" "$(tell fork)"
    detach
    wait_until same_facts before after
    tell release >/dev/null
    end
}

# ---- programs ----

for way in "pie lazy" "no-pie lazy" "pie now" "no-pie now"; do
    flags="-Wl,-z,relro,-z,${way#* }"
    case $way in
    no-pie*) flags="$flags -fno-pie -no-pie" ;;
    *) flags="$flags -fPIE -pie" ;;
    esac
    # shellcheck disable=SC2086 # several words
    compile program $flags
    start "$work/program"
    truth "$way"
done

# Without DT_GNU_HASH, with one table of relative relocations, with every call through the global offset table.
compile program -Wl,--hash-style=sysv -fPIE -pie -fno-plt
start "$work/program"
truth "an old hash table, no linkage table"

# ---- allocators ----

# Such a library binds words of its own when threads end, or memory is short.
no_facts='^/.*malloc\|^/.*libc[.]so'
for allocator in jemalloc.so.2 tcmalloc.so.4 tcmalloc_minimal.so.4; do
    if compile program -Wl,--no-as-needed "-l:lib$allocator" 2>/dev/null; then
        start "$work/program"
        truth "$allocator"
    else
        echo "not here: $allocator"
    fi
done

no_facts='^$'

# ---- libraries that are loaded later ----

plugin lazy.so -Wl,-z,lazy
plugin now.so -Wl,-z,now,-z,relro
kept_in_plugin() { [ "$(in_use keep_in_plugin)" = "$1" ]; }

start
attach
answer "configure heap:1" >/dev/null
for plugin in lazy now; do
    expect_equal "load $plugin" "plugged" "$(tell plugin "$work/$plugin.so")"
    # The library is seen when it allocates in the profile; it counts from then on.
    seen() { tell keep 1 >/dev/null && [ "$(in_use keep_in_plugin)" != 0 ]; }
    wait_until seen
    tell drop >/dev/null
    expect_equal "$plugin: all is freed" 0 "$(in_use keep_in_plugin)"
    tell keep 500 >/dev/null
    expect_equal "$plugin: bytes in use" 500000 "$(in_use keep_in_plugin)"
    tell drop >/dev/null
    expect_equal "unload $plugin" "unloaded 0" "$(tell unload)"
done
tell allocate 100 >/dev/null
expect_equal "after the unloads" 100000 "$(in_use keep_blocks)"
detach
end

# One that is there before, and goes during the attachment.
start
tell plugin "$work/now.so" >/dev/null
tell keep 5 >/dev/null
attach
answer "configure heap:1" >/dev/null
tell keep 5 >/dev/null
expect_equal "a library from before" 5000 "$(in_use keep_in_plugin)"
tell drop >/dev/null
expect_equal "unload it" "unloaded 0" "$(tell unload)"
detach
end

# ---- a library with an allocator of its own ----

# musl knows no RTLD_DEEPBIND: there the blocks are libc's.
plugin deep.so -Wl,-z,lazy "$SRC/test/e2e/attach/own_malloc.c"
for when in before later; do
    start
    [ "$when" = later ] || tell deep "$work/deep.so" >/dev/null
    attach
    answer "configure heap:1" >/dev/null
    [ "$when" = before ] || tell deep "$work/deep.so" >/dev/null
    expect_equal "$when: blocks of its own allocator" "plugin_keep 100" "$(tell keep 100)"
    tell allocate 100 >/dev/null
    is_musl "$library" || expect_equal "$when: its blocks" 0 "$(in_use keep_in_plugin)"
    expect_equal "$when: the program's blocks" 100000 "$(in_use keep_blocks)"
    tell drop >/dev/null
    tell release >/dev/null
    detach
    end
done
