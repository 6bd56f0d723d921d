#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 2
#
# test_odd_hosts_limits.sh: programs that run under a limit (address space, descriptors, stack, pending signals,
# processes, CPU time, size of files), and under libfaketime, which stands before the clocks.
# shellcheck disable=SC3045 # ulimit: dash has these
# shellcheck source=test/e2e/odd/hosts.sh
. "$SRC/test/e2e/odd/hosts.sh"
need go timeout cc

# The program: threads, files, blocks, and a little work.
cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static void *work(void *argument)
{
    for (int i = 0; i < 2000; i++) {
        char *block = malloc(100 + (size_t)i);
        memset(block, 1, 100);
        for (int k = 0; k < 5000; k++) {
            sink += (unsigned long)k * sink + 1;
        }
        free(block);
    }
    return argument;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    pthread_attr_setstacksize(&attributes, least > 1 << 16 ? least : 1 << 16); /* whatever the limit says */
    int refused = argc > 1 ? 0 : pthread_create(&thread, &attributes, work, NULL);
    FILE *file = tmpfile();
    work(NULL);
    if (argc == 1 && refused == 0) {
        pthread_join(thread, NULL);
    }
    printf("%s, file %d, block %d\n", refused ? "no thread" : "done", file != NULL, malloc(1 << 20) != NULL);
    if (argc > 1 && strcmp(argv[1], "until-killed") == 0) {
        for (;;) {
            work(NULL);
        }
    }
    return 42;
}
C
cc -O1 -pthread -o program program.c
# limited LIMITS COMMAND...: the library, too, is loaded under these.
limited() {
    limited_limits=$1
    shift
    printf '#!/bin/sh\nulimit %s && exec "$@"\n' "$limited_limits" >limited
    chmod +x limited
    HOST_BEFORE=$work/limited
    odd_host "ulimit$(echo "$limited_limits" | tr -d ' ')-${1##*/}" "$@"
    HOST_BEFORE=
}

# The library says why there is no profile, or how to have more of it.
HOST_NOISE='/^libpprof: /d'
# Virtual KiB. The program alone needs 11 MB, and Perl no more.
for kilobytes in 60000 150000 1000000; do
    limited "-v $kilobytes" ./program
done
limited "-v 60000" perl -e 'my @a = map { $_ * 2 } 1 .. 100000; print "$#a\n"'
limited "-d 60000" ./program
# The program opens one file. The library opens one at a time, for a moment, to look for threads (docs/SIGNALS.md, "Known").
HOST_PROFILE=none
for descriptors in 3 6; do
    limited "-n $descriptors" ./program
done
HOST_PROFILE=yes
limited "-n 16" ./program
limited "-s 64" ./program
limited "-s unlimited" ./program
limited "-l 0" ./program
limited "-c 0" ./program
limited "-t 5" ./program
HOST_PROFILE=none
# No file may have a byte, and the attempt is a signal.
limited "-f 0" ./program
# No timer that sends a signal.
(ulimit -i 0) 2>/dev/null && limited "-i 0" ./program
# Killed by SIGXCPU after a second.
limited "-t 1" ./program until-killed

# For root there are no limits of processes: this user has no others.
if [ "$(id -u)" = 0 ] && command -v setpriv prlimit >/dev/null; then
    chmod 777 .
    library=$(for_everybody "$library")
    nobody_else=$((400000 + $$ % 100000)) # all processes of a user count
    for threads in 1 2 3; do
        HOST_BEFORE="setpriv --reuid=$nobody_else --regid=$nobody_else --clear-groups prlimit --nproc=$threads"
        odd_host nproc-$threads ./program
    done
    HOST_BEFORE=
else
    not_here "limits of processes (root only)"
fi
HOST_PROFILE=yes

# ---- libfaketime ----

for faketime in /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/*/faketime/libfaketimeMT.so.1; do
    [ -e "$faketime" ] || {
        not_here faketime
        continue
    }
    export FAKETIME='@2001-02-03 04:05:06' FAKETIME_NO_CACHE=1
    cat >clock.pl <<'PERL'
my $start = time;
my $x = 0;
$x += $_ for 1 .. 1_500_000;
printf "%d %s\n", $x, (gmtime $start)[5] + 1900;
exit 42;
PERL
    HOST_NOISE=
    HOST_PRELOAD=$faketime odd_host "${faketime##*/}-before" perl clock.pl
    HOST_PRELOAD=$faketime odd_host "${faketime##*/}-program" ./program
    # With a clock that runs ten times as fast.
    FAKETIME='+0 x10'
    HOST_PRELOAD=$faketime odd_host "${faketime##*/}-fast" ./program
    unset FAKETIME
done
odd_verdict
