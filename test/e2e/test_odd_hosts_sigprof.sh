#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 1
#
# test_odd_hosts_sigprof.sh: programs that use SIGPROF and ITIMER_PROF themselves: in C, in Perl, in Python, and by
# gcc -pg, whose profiler is in libc. (What each call of libc answers about SIGPROF: test_sigprof.sh.)
# shellcheck source=test/e2e/odd/hosts.sh
. "$SRC/test/e2e/odd/hosts.sh"
need go timeout cc

for way in count preempt jump keep-mask critical fork chain no-clock; do
    odd_host $way "$victims/odd_sigprof" $way
done
# What is executed has no library, and the program before it has no end.
HOST_PROFILE=none
for way in exec exec-blocked; do
    odd_host $way "$victims/odd_sigprof" $way
done
HOST_PROFILE=yes

cat >timer.pl <<'PERL'
use Time::HiRes qw(setitimer ITIMER_PROF);
my $ticks = 0;
$SIG{PROF} = sub { $ticks++ };
setitimer(ITIMER_PROF, 0.004, 0.004);
my $x = 0;
while ($ticks < 12) { $x += $_ for 1 .. 1000 }
setitimer(ITIMER_PROF, 0);
# A timeout by die, out of the handler.
my $ended = 0;
for (1 .. 5) {
    local $SIG{PROF} = sub { die "timeout\n" };
    eval { setitimer(ITIMER_PROF, 0.005); $x += $_ for 1 .. 1e9; };
    $ended++ if $@ eq "timeout\n";
}
print "enough, $ended\n";
exit 42;
PERL
if perl -MTime::HiRes=ITIMER_PROF -e1 2>/dev/null; then
    odd_host perl perl timer.pl
else
    not_here "perl with Time::HiRes"
fi

cat >timer.py <<'PYTHON'
import signal, sys, threading
ticks = 0
def handler(number, frame):
    global ticks
    ticks += 1
print(signal.signal(signal.SIGPROF, handler) == signal.SIG_DFL)
signal.setitimer(signal.ITIMER_PROF, 0.004, 0.004)
stop = False
def along():
    while not stop:
        sum(range(1000))
thread = threading.Thread(target=along)
thread.start()
while ticks < 12:
    sum(range(1000))
stop = True
thread.join()
signal.setitimer(signal.ITIMER_PROF, 0)
# Blocked, pending, and taken by sigwait.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
signal.setitimer(signal.ITIMER_PROF, 0.004)
while signal.SIGPROF not in signal.sigpending():
    sum(range(1000))
print(int(signal.sigwait([signal.SIGPROF])), signal.sigpending(), ticks >= 12)
sys.exit(42)
PYTHON
if [ -x /usr/bin/python3 ]; then
    odd_host python /usr/bin/python3 timer.py
else
    not_here python3
fi

# Its own profile has the calls counted, and the time that was used: not the ticks of another's timers. A virtual machine that
# stands still takes ticks from any program: one run of three has them all.
gprof_seconds() { # OPTIONS
    preload "$1,file=$work/g.%k.pb.gz" ./gprof >/dev/null || :
    gprof -b -p ./gprof gmon.out >flat
    calls=$(awk '$NF == "gprof_work" { print $4 }' flat)
    [ "$calls" = 200 ] || fault "gprof with $1 counts $calls calls of 200"
    seconds=$(awk '$NF == "gprof_wait" || $NF == "gprof_work" { sum += $3 } END { print sum + 0 }' flat)
}
# is_right SECONDS: about 0.3.
is_right() { awk -v s="$1" 'BEGIN { exit !(s >= 0.1 && s <= 0.6) }'; }

if gcc -pg -O1 -o gprof "$odd/gprof.c" 2>/dev/null && command -v gprof >/dev/null; then
    odd_host gprof ./gprof
    for options in "$all_kinds" "$perf_kind"; do
        gprof_seconds "$options"
        is_right "$seconds" || gprof_seconds "$options"
        is_right "$seconds" || gprof_seconds "$options"
        is_right "$seconds" || fault "gprof with $options has $seconds seconds of about 0.3 in its profile"
    done
else
    not_here gprof
fi
odd_verdict
