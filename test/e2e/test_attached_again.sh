#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_attached_again.sh: `cpprof record -p` has nothing of what an earlier attachment has recorded: neither allocations nor
# lifetimes. What is asked for twice is off after the attachment, too: no signal of ours ends the program then.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc
cpprof=$BUILD/bin/cpprof
mkdir -m 700 run
export XDG_RUNTIME_DIR="$work/run"

cat >burst.c <<'EOC'
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) static void burst(void)
{
    for (int i = 0; i < 1000; i++) {
        kept = malloc(100);
        free(kept);
    }
}
int main(void)
{
    char byte;
    while (read(0, &byte, 1) == 1) {
        burst();
        write(1, "done\n", 5);
    }
    return 0;
}
EOC
cc -g -O1 -fno-builtin -o burst burst.c
guest ./burst
# blocks TYPE FILE: of burst(), or nothing.
blocks() { "$cpprof" top --sample "$1" --cum "$2" 2>/dev/null | awk 'NF == 6 && $NF == "burst" { print $4 }'; }

"$cpprof" configure $guest heap:1,lifetime:1 >configured 2>&1 || fail "configure: $(cat configured)"
"$cpprof" merge -o begun.pb.gz "pid:$guest/lifetime"
echo >&9
wait_until has_line guest.out "done"
for profile in 'alloc_objects heap' 'freed_objects lifetime'; do
    # shellcheck disable=SC2086 # words
    set -- $profile
    "$cpprof" merge -o first.pb.gz "pid:$guest/$2"
    expect_equal "$1 of the first attachment" 1000 "$(blocks "$1" first.pb.gz)"
done
"$cpprof" configure $guest detach >configured 2>&1 || fail "detach: $(cat configured)"
for profile in 'alloc_objects heap' 'freed_objects lifetime'; do
    # shellcheck disable=SC2086 # words
    set -- $profile
    "$cpprof" record -p $guest -e "$2:1" -d 1 -o again.pb.gz >out 2>err || fail "record: $(cat err)"
    expect_equal "$1 of the second attachment" "" "$(blocks "$1" again.pb.gz)"
done

for word in wall wall:50 cpu cpu=shared alloctrace fd block:1 thread; do
    "$cpprof" configure $guest $word >configured 2>&1 || fail "configure $word: $(cat configured)"
    "$cpprof" configure $guest $word >configured 2>&1 || expect_contains "$word, asked for twice" configured "the process answered 400"
    "$cpprof" configure $guest detach >configured 2>&1 || fail "detach after $word: $(cat configured)"
    : >guest.out
    printf '\n\n\n' >&9
    wait_until has_line guest.out "done"
    expect_equal "timers after $word, asked for twice" "" "$(cat /proc/$guest/timers)"
done
ends_with 0 $guest
echo ok
