#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_foreign_root.sh: the files of a process with another root folder, and its control socket, are found where
# the process would find them: an absolute symbolic link of its folder does not lead to a file outside, nor does a pipe in
# the place of a debug file keep `cpprof dump` waiting. With openat2(2) and without.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc strip objcopy readelf unshare chroot
cpprof=$BUILD/bin/cpprof

enter=chroot
[ "$(id -u)" = 0 ] || enter="unshare -r chroot"
root=$work/root
mkdir -p "$root/bin" "$root/debug" "$root/tmp"

cat >hidden.c <<'EOF2'
#include <unistd.h>
static __attribute__((noinline)) void hidden_inside(void)
{
    char byte;
    while (read(0, &byte, 1) > 0)
        continue;
}
int main(void)
{
    if (write(1, "ready\n", 6) == 6)
        hidden_inside();
    return 0;
}
EOF2
cc -g -O1 -static -Wl,--build-id -o whole hidden.c || skip "no static libc"
build_id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
[ -n "$build_id" ] || skip "no build id"
objcopy --only-keep-debug whole hidden.debug
strip -o "$root/bin/hidden" whole
where=usr/lib/debug/.build-id/$(echo "$build_id" | cut -c 1-2)
debug_file=$root/$where/$(echo "$build_id" | cut -c 3-).debug
mkdir -p "$root/$where"

mkfifo input
# shellcheck disable=SC2086 # two words
$enter "$root" /bin/hidden <input >hidden.out 2>err &
process=$!
started=$process
exec 3>input
can_start() { has_line hidden.out ready || is_over "$process"; }
wait_until can_start
has_line hidden.out ready || skip "no other root folder can be entered: $(cat err)"

# dumped: the stacks, by every way of opening files.
dumped() {
    timeout 60 "$cpprof" dump -p "$process" >dump 2>dump.err || fail "dump: $(cat dump.err)"
    timeout 60 "$victims/confined" before lack openat2 -- "$cpprof" dump -p "$process" >dump.steps 2>dump.err ||
        fail "dump by steps: $(cat dump.err)"
    expect_equal "the stacks by steps" "$(cat dump)" "$(cat dump.steps)"
}

is_named() { grep -q '^hidden_inside(' dump; }

# ---- nothing, a file, a link within, one more within that goes up and down ----

dumped
! is_named || fail "a name without a debug file: $(cat dump)"
cp hidden.debug "$root/debug/hidden.debug"
for link in /debug/hidden.debug ../../../../../debug/hidden.debug ../../../../../../../../../debug/./hidden.debug; do
    ln -sf "$link" "$debug_file"
    dumped
    is_named || fail "no name by the link to $link: $(cat dump)"
done
mkdir "$root/also"
ln -s /also/second "$root/also/first"
ln -s ../debug "$root/also/second"
ln -sf /also/first/hidden.debug "$debug_file"
dumped
is_named || fail "no name by links to folders: $(cat dump)"

# ---- links that would lead out ----

rm "$root/debug/hidden.debug"
for link in "$work/hidden.debug" "/proc/self/root$work/hidden.debug" "../../../../../../../../../../$work/hidden.debug"; do
    ln -sf "$link" "$debug_file"
    dumped
    ! is_named || fail "the link to $link led out: $(cat dump)"
done
rm -r "$root/usr/lib/debug"
mkdir -p "$work/outside/.build-id"
cp -r hidden.debug "$work/outside/hidden.debug"
mkdir -p "$work/outside/${where#usr/lib/debug/}"
cp hidden.debug "$work/outside/${where#usr/lib/debug/}/${debug_file##*/}"
ln -s "$work/outside" "$root/usr/lib/debug"
dumped
! is_named || fail "a link to a folder led out: $(cat dump)"

# ---- circles, and a pipe ----

rm "$root/usr/lib/debug"
mkdir -p "$root/$where"
ln -s "${debug_file##*/}" "$debug_file"
dumped
rm "$debug_file"
mkfifo "$debug_file"
dumped
exec 3>&-
wait "$process"

# ---- the control socket ----

mkdir -p "$root/real/pprof"
chmod 700 "$root/real/pprof"
ln -s /real "$root/runtime"
needs() { for needing; do ldd "$needing"; done; } # musl's ldd takes one
for file in $(needs "$victims/disturbed" "$library" "$BUILD/lib/libpprof-http.so.0" | grep -o '/[^ )]*' | grep -v ':$' | sort -u); do
    mkdir -p "$root${file%/*}"
    cp -L "$file" "$root$file"
done
mkdir -p "$root/pprof"
cp -L "$library" "$BUILD/lib/libpprof-http.so.0" "$root/pprof"
cp "$victims/disturbed" "$root/bin"
mkfifo asked
# shellcheck disable=SC2086
LIBPPROF=control=/runtime/pprof/%p.sock LD_PRELOAD=/pprof/libpprof.so.0 $enter "$root" /bin/disturbed nanosleep \
    <asked >asked.out 2>asked.err &
process=$!
started="$started $process"
exec 3>asked
wait_until has_line asked.out ready
"$cpprof" configure "$process" >out 2>err || fail "configure by a link of the process's: $(cat err asked.err)"
expect_contains "the answer" out "pid $process"
exec 3>&-
wait "$process" || fail "ended with $?"
echo ok
