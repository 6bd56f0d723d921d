#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_record_exec.sh: `cpprof record` follows its command through each exec function, whatever environment
# that gets, through env, nice, sh and scripts, but not into children. The profile from before an exec is added, and
# counted once if the exec fails.
# timeout: 300
# nightly: 2
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go
own_programs /usr/bin/nice
cpprof=$BUILD/bin/cpprof
executes=$victims/executes
export STARTED_WITH=1

# follow NAME COMMAND...: records CPU time, heap and threads of the command.
follow() {
    follow_name=$1
    shift
    "$cpprof" record --no-subprocesses -e cpu,heap:1,thread -F 1000 -o "$follow_name.pb.gz" "$@" >out 2>err ||
        fail "$follow_name: $(cat err)"
    expect_contains "$follow_name" err "wrote $follow_name.cpu.pb.gz (1 process)"
    for kind in cpu heap thread; do
        raw "$follow_name.$kind.pb.gz"
    done
}

# expect_work FUNCTION RAW: the function worked for 100 ms. A machine without a processor has no ticks, but its CPU
# clocks go on: the time that the library settles by them is shown at the thread's root, not at the function.
expect_work() {
    work_settled=$(comments "$2" | sed -n 's/.* \([0-9]*\) more w[aer]* settled.*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
    expect_near "weight of $1 in $2" 100 "$(weight_with "$2" "$1")" $((30 + work_settled))
}

is_followed() {
    expect_work works_executed "$1.cpu.pb.gz.raw"
    expect_equal "$1: what it allocates" "1 70000" "$(blocks_of "$1.heap.pb.gz.raw" works_executed | cut -d ' ' -f 1,2)"
    expect_equal "$1: threads" 1 "$(weight "$1.thread.pb.gz.raw")"
    expect_equal "$1: what its children would inherit" "LD_PRELOAD= LIBPPROF=" "$(tail -n 2 out | tr '\n' ' ' | sed 's/ $//')"
}

# Each thread's exec has its own environment, also while another one's fails.
"$cpprof" record --no-subprocesses -e heap -o together.pb.gz "$executes" together "$executes" >out 2>err || fail "together: $? $(cat err)"
expect_equal "execs that failed otherwise" "strange: 0" "$(cat out)"

execveat=execveat
nm -D "$executes" | grep -qw execveat || execveat= # its libc has no such function
for how in execve execv execvp execvpe execl execlp execle fexecve $execveat; do
    follow $how "$executes" $how "$executes" work
    is_followed $how
    expect_work works_before $how.cpu.pb.gz.raw
    expect_equal "$how: before" "1 50000" "$(blocks_of $how.heap.pb.gz.raw works_before | cut -d ' ' -f 1,2)"
done

cat >script <<SCRIPT
#!/usr/bin/env sh
exec "$executes" work
SCRIPT
chmod +x script
follow env env X=1 "$executes" work
is_followed env
follow empty env -i "$executes" work
is_followed empty
follow nice nice "$executes" work
is_followed nice
follow sh sh -c "exec \"$executes\" work"
is_followed sh
follow script ./script
is_followed script
follow long env nice env -i sh -c "exec nice \"$executes\" execve \"$executes\" work"
is_followed long
expect_work works_before long.cpu.pb.gz.raw

# With files in the place of the socket.
cat >closes.c <<'C'
#include <unistd.h>
int main(int argc, char **argv)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    return argc < 2 ? 2 : execv(argv[1], argv + 1);
}
C
cc -o closes closes.c
follow closed ./closes "$executes" execve "$executes" work
is_followed closed
expect_work works_before closed.cpu.pb.gz.raw

# An exec fails: there is no file (nothing is written), or a file that is no program (all is written before).
printf '\177ELF' >no_program
chmod +x no_program
for program in /nowhere/program ./no_program; do
    follow failed "$executes" execve $program
    expect_work works_before failed.cpu.pb.gz.raw
    expect_work works_after failed.cpu.pb.gz.raw
    expect_equal "failed: before" "1 50000" "$(blocks_of failed.heap.pb.gz.raw works_before | cut -d ' ' -f 1,2)"
    expect_equal "failed: after" "1 60000" "$(blocks_of failed.heap.pb.gz.raw works_after | cut -d ' ' -f 1,2)"
done

# Children that the program forks are not followed, and find nothing in their environment.
follow child sh -c "\"$executes\" work; exec \"$executes\" execvp true"
expect_equal "a child" 0 "$(weight_with child.cpu.pb.gz.raw works_executed)"
expect_work works_before child.cpu.pb.gz.raw
expect_equal "a child's environment" "LD_PRELOAD= LIBPPROF=" "$(tail -n 2 out | tr '\n' ' ' | sed 's/ $//')"

# The program's own preload and options stay.
"$cpprof" record --no-subprocesses -o own.pb.gz "$executes" execve /usr/bin/env LD_PRELOAD=libc.so.6 LIBPPROF=symbolize=none \
    "$executes" work >out 2>err || fail "$(cat err)"
expect_contains "own preload" out "LD_PRELOAD=libc.so.6"

# If the next program cannot be preloaded, the profile from before is there, and cpprof reports that.
cat >static.c <<'C'
#include <stdlib.h>
#include <stdio.h>
int main(void) { puts(getenv("LD_PRELOAD") ? "preloaded" : "clean"); return 0; }
C
if cc -static -o static static.c 2>/dev/null; then
    follow static "$executes" execv ./static
    expect_contains "static" err "libpprof: the profile ends here; the process executes a statically linked program"
    expect_equal "static: environment" clean "$(cat out)"
    expect_work works_before static.cpu.pb.gz.raw
fi
if [ "$(id -u)" = 0 ] && cc -o privileged static.c && chown 65534 privileged && chmod 4755 privileged; then
    chmod 755 .
    follow privileged "$executes" execv ./privileged
    expect_contains "privileged" err "set-user-id"
    expect_equal "privileged: environment" clean "$(cat out)"
fi

# Without cpprof, LIBPPROF has to have follow-exec.
preload "cpu:1000,follow-exec,file=$work/raw.%s.pb.gz" "$executes" execve "$executes" work >/dev/null
expect_equal "profiles with follow-exec" 2 "$(find . -name 'raw.*.pb.gz' | wc -l)"
preload "cpu:1000,file=$work/none.%s.pb.gz" "$executes" execve "$executes" work >/dev/null
expect_equal "profiles without follow-exec" 0 "$(find . -name 'none.*.pb.gz' | wc -l)"
echo ok
