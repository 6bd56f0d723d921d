#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_lines_soft.sh: symbolize=lines where lines cannot be had: without libpprof-dwarf.so, with one that cannot be
# loaded, in signal handlers, after fork, on small stacks, in programs that have confined themselves or are linked
# statically. The profile has names, the log says why, once, and the program goes on. And where lines can be had, the
# profiles have nothing of the work that they take.
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go cc readelf
source=$SRC/test/e2e/lines/soft.c
cc -g -O1 -w -D_GNU_SOURCE -I "$SRC/include" -o soft "$source" "$library" -pthread -Wl,-rpath,"${library%/*}" ||
    fail "soft.c"

# run OPTIONS ARGUMENTS...: the program with symbolize=lines; its messages in `errors`.
run() {
    run_options=$1
    shift
    rm -f p.pb.gz
    LIBPPROF=symbolize=lines$run_options ./soft "$@" 2>errors || fail "soft $*: $? $(cat errors)"
}

first_place() { places p.pb.gz | cut -f 2 | head -n 1; }
has_lines() { # WHAT
    expect_equal "$1" "outer $source:$(line_of "$source" 'pprof_profile_add(')" "$(first_place)"
}
has_names() { # WHAT REASON
    expect_equal "$1" "outer" "$(first_place)"
    expect_equal "messages, $1" "$2" "$(sed 's/^libpprof: symbolize=lines: names alone: //' errors)"
}

run "" plain p.pb.gz
has_lines "nothing in the way"
expect_equal "messages" "" "$(cat errors)"

# ---- places where it is not asked ----

handler="the profile is written in a signal handler"
unready="libpprof-dwarf.so was not loaded before the program forked or confined itself"
run "" exits p.pb.gz
has_names "in a handler of the program" "$handler"
run "" fork p.pb.gz
has_names "after fork" "$unready"
run "" fork-after p.pb.gz
has_lines "after fork, and loaded before"
run "" small p.pb.gz
has_names "on a small stack" "the stack of the thread that writes the profile is too small"
run "" small p.pb.gz 512
has_lines "on a large stack"
run "" limited p.pb.gz
has_names "without memory" "there is no memory for a file's debug information"
run "" confined p.pb.gz
has_names "confined" "$unready"
mkdir root
if [ "$(id -u)" = 0 ]; then
    run "" chroot /p.pb.gz root
    mv root/p.pb.gz .
    grep -q 'libpprof-dwarf.so: cannot open shared object file.*; install it beside libpprof.so, and libdw' errors ||
        fail "below another root: $(cat errors)"
    expect_equal "below another root" "" "$(places p.pb.gz | grep ':[1-9]' || :)"
fi

# The default action of a signal that ends the program: the profile is written in a handler of ours.
mkfifo never
LIBPPROF=thread,symbolize=lines,file=$work/p.pb.gz LD_PRELOAD=$library sh -c 'echo >&3; read -r x <never' 3>started_now 2>errors &
victim=$!
started="$started $victim"
wait_until test -s started_now
kill -TERM $victim
wait $victim 2>/dev/null || :
[ -s p.pb.gz ] || fail "no profile after SIGTERM"
expect_equal "messages after SIGTERM" "libpprof: symbolize=lines: names alone: $handler" "$(cat errors)"

# ---- without the plugin ----

# alone PLUGIN: where libpprof.so lies with this plugin beside it, or none.
alone() {
    rm -rf alone
    mkdir alone
    cp "$library" alone/libpprof.so.0
    [ -z "$1" ] || cp "$1" alone/libpprof-dwarf.so
}
run_alone() {
    rm -f ./*.pb.gz
    LIBPPROF="symbolize=lines,heap:1,thread,file=$work/%k.pb.gz" LD_LIBRARY_PATH=$work/alone ./soft plain p.pb.gz 2>errors ||
        fail "the program: $? $(cat errors)"
    expect_equal "$1" "outer" "$(first_place)"
    expect_equal "messages, $1" 1 "$(wc -l <errors)"
    expect_contains "$1" errors "$2"
    raw heap.pb.gz
    raw thread.pb.gz
}
# RPATH is looked at before LD_LIBRARY_PATH, but RUNPATH is not.
cc -g -O1 -w -D_GNU_SOURCE -I "$SRC/include" -o soft "$source" "$library" -pthread ||
    fail "soft.c"
alone ""
run_alone "no plugin" "libpprof-dwarf.so: cannot open shared object file: No such file or directory; install it beside libpprof.so, and libdw"
echo "this is no library" >garbage
alone garbage
run_alone "a damaged plugin" "alone/libpprof-dwarf.so: "
cat >other.c <<'C'
#include <pprof_dwarf.h>
const pprof_dwarf_interface pprof_dwarf = {PPROF_DWARF_VERSION + 1, 0};
C
cc -shared -fPIC -I "$SRC/include" -o other.so other.c
alone other.so
run_alone "a plugin of another version" "alone/libpprof-dwarf.so is of another version than libpprof"
alone "$BUILD/lib/libpprof-dwarf.so"
LIBPPROF=symbolize=lines LD_LIBRARY_PATH=$work/alone ./soft plain p.pb.gz 2>errors
has_lines "the plugin beside the library: $(cat errors)"
# Not beside it, but where the loader looks.
mkdir elsewhere
mv alone/libpprof-dwarf.so elsewhere
LIBPPROF=symbolize=lines LD_LIBRARY_PATH=$work/alone:$work/elsewhere ./soft plain p.pb.gz 2>errors
has_lines "the plugin where the loader looks: $(cat errors)"

if [ -e "$BUILD/lib/libpprof_static.a" ] && cc -static -g -O1 -w -D_GNU_SOURCE -I "$SRC/include" -o soft "$source" \
    "$BUILD/lib/libpprof_static.a" -lz -Wl,@"$BUILD/lib/libpprof_static.wrap" 2>messages; then
    expect_equal "what the linker says" "" "$(cat messages)"
    run "" plain p.pb.gz
    has_names "static" "a fully static program cannot load it; install it beside libpprof.so, and libdw (libdw1, elfutils-libs)"
fi

# ---- nobody waits for lines but who wants them ----

cc -shared -fPIC -I "$SRC/include" -o held_plugin.so "$SRC/test/e2e/lines/held_plugin.c"
cc -g -O1 -w -D_GNU_SOURCE -rdynamic -I "$SRC/include" -o held "$SRC/test/e2e/lines/held.c" "$library" -pthread ||
    fail "held.c"
alone held_plugin.so
LIBPPROF=fd,symbolize=lines,file=/dev/null LD_LIBRARY_PATH=$work/alone timeout 100 ./held 2>errors ||
    fail "held: $? $(cat errors)"

# ---- nothing of it is in the profiles ----

cc -g -O1 -w -D_GNU_SOURCE -I "$SRC/include" -o soft "$source" "$library" -pthread -Wl,-rpath,"${library%/*}"
for symbolize in names lines; do
    mkdir $symbolize
    LIBPPROF="heap:1,block,mutex,fd,thread,symbolize=$symbolize,file=$work/$symbolize/%k.pb.gz" \
        ./soft allocates "" 2>errors || fail "allocates: $? $(cat errors)"
    expect_equal "messages" "" "$(cat errors)"
    LIBPPROF="heap:1,alloctrace,symbolize=$symbolize,log=$work/$symbolize/trace,file=$work/$symbolize/traced.pb.gz" \
        ./soft allocates "" || fail "alloctrace: $?"
    grep -c '^trace' $symbolize/trace >$symbolize/traces
    for kind in heap block mutex fd; do
        go tool pprof -symbolize=none -raw $symbolize/$kind.pb.gz 2>/dev/null >raw
        awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 0 } part { sub(/:.*/, ""); print }' raw |
            sort >$symbolize/$kind
        ! sed '/^Mappings/,$d' raw | grep -E 'dwarf_|elf_| dlopen| _dl_' >&2 || fail "$kind has what lines take"
    done
done
for kind in heap block mutex fd traces; do
    cmp names/$kind lines/$kind >&2 || fail "$kind has more with lines: $(diff names/$kind lines/$kind)"
done
echo ok
