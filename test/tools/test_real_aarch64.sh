#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, the distribution's programs
#
# test_real_aarch64.sh: Debian's perl, python3, xz, redis and nginx of aarch64, as they are: output and status are as without the
# library. `go tool pprof` and cpprof of this machine, which is another one, read the profiles, and stacks are whole. By
# qemu-user; e2e.real_* do more of it in the virtual machine.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go readelf cmake curl
readelf -h "$library" | grep -q AArch64 || skip "not built for aarch64"
[ "$(uname -m)" != aarch64 ] || skip "e2e.real_* do this on such a machine"
port=$SRC/tools/port
ROOT_FOLDER=$("$port" aarch64 folder)

cpprof=$SRC/build/release/bin/cpprof
if [ ! -x "$cpprof" ]; then
    cmake -S "$SRC" -B host -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPPROF_TESTS=OFF >built 2>&1 || fail "$(cat built)"
    cmake --build host --target cpprof >built 2>&1 || fail "$(tail built)"
    cpprof=$work/host/bin/cpprof
fi

# emulated PROGRAM WORDS...: of the other system. It becomes the program, where it is a process of its own.
emulated() {
    emulated_program=$ROOT_FOLDER/usr/$1
    shift
    exec "$port" aarch64 run "$emulated_program" "$@"
}
recorded() { # FILE PROGRAM WORDS...
    export QEMU_SET_ENV="LD_PRELOAD=$library" LIBPPROF="cpu:1000,subprocesses,file=$1"
    shift
    emulated "$@"
}
nginx() { (emulated sbin/nginx "$@"); } # for configure_nginx

# expect_profile NAME: of the program.
expect_profile() {
    expect_whole "$1.pb.gz"
    expect_at_least "weight of $1" 50 "$(weight "$1.pb.gz.raw")"
    for report in top traces; do
        go_pprof "$as_written" -$report "$1.pb.gz" >expected 2>errors || fail "go: $(cat errors)"
        "$cpprof" $report --symbolize=none "$1.pb.gz" >found 2>errors || fail "cpprof: $(cat errors)"
        diff expected found >&2 || fail "cpprof $report of $1 is not what go tool pprof prints"
    done
    echo "$1: $(weight "$1.pb.gz.raw") samples, $(whole_percent "$1.pb.gz.raw") % whole; $(comments "$1.pb.gz.raw" | head -n 1)"
}

# same_program NAME PROGRAM WORDS...
same_program() {
    same_name=$1
    shift
    (emulated "$@") >plain 2>plain.err || fail "$same_name does not run: $(cat plain.err)"
    (recorded "$work/$same_name.pb.gz" "$@") >out 2>out.err || fail "status of $same_name: $? $(cat out.err)"
    cmp plain out >&2 || fail "$same_name has another output"
    expect_equal "messages of $same_name" "$(cat plain.err)" "$(cat out.err)"
    expect_profile "$same_name"
}

# ---- programs ----

awk 'BEGIN { srand(1); for (i = 0; i < 30000; i++) printf "%d\n", rand() * 2147483647 }' >data
cat >work.pl <<'PERL'
for (1 .. 60000) { $h{$_ % 1000} .= "x"; $s += $_; $t = "$_,$s" =~ s/(\d)(\d)/$2$1/gr }
print "$s $t ", join(",", map { length $_ } @h{(sort keys %h)[0 .. 9]}), "\n";
PERL
cat >work.py <<'PYTHON'
import hashlib, json, re, threading, zlib
text = json.dumps([{"a": i, "b": str(i) * 3} for i in range(3000)])
print(len(json.loads(text)), len(re.findall(r"(\d+)5", text)), zlib.crc32(zlib.compress(text.encode())))
print(hashlib.sha256(text.encode() * 4).hexdigest())
threads = [threading.Thread(target=lambda: sum(i * i for i in range(40000))) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
PYTHON
cat >work.redis <<'REDIS'
eval "for i = 1, 3000 do redis.call('rpush', 'l', i * 7919 % 20011) end return redis.call('llen', 'l')" 0
sort l limit 0 5 desc
eval "local s = 0 for i = 1, 200000 do s = s + i end return string.format('%d', s)" 0
set a 1
REDIS

# ---- servers ----

# served FILE SIGNAL ASK HOW...: what a server says to ASK, and its status after the signal, in FILE.
served() {
    served_file=$1 served_signal=$2 served_ask=$3
    shift 3
    rm -f "$work/socket"
    "$@" >log 2>&1 &
    server=$!
    started="$started $server"
    wait_until test -S "$work/socket"
    $served_ask >"$served_file" 2>&1
    kill "-$served_signal" $server
    ended=0
    wait $server || ended=$?
    echo "status $ended" >>"$served_file"
}
redis_cli() { (emulated bin/redis-cli -s "$work/socket" "$@"); }
redis_answers() { [ "$(redis_cli ping 2>/dev/null)" = PONG ]; }
ask_redis() {
    wait_until redis_answers
    redis_cli <work.redis
}
ask_nginx() {
    for _ in $(seq 60); do
        curl -s --unix-socket "$work/socket" -H 'Accept-Encoding: gzip' http://a/page | cksum
    done
}

same_server() { # NAME SIGNAL ASK PROGRAM WORDS...
    same_name=$1 same_signal=$2 same_ask=$3
    shift 3
    served plain "$same_signal" "$same_ask" emulated "$@"
    mkdir profiles
    served out "$same_signal" "$same_ask" recorded "$work/profiles/%p.pb.gz" "$@"
    cmp plain out >&2 || fail "$same_name says something else: $(cat plain out)"
    has_line out "status 0" || fail "$same_name: $(tail -n 1 out), $(cat log)"
    # Of a master and its worker the one that has worked.
    mv "$(find profiles -type f -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)" "$same_name.pb.gz"
    rm -r profiles
    expect_profile "$same_name"
}

programs=${PPROF_PROGRAMS:-perl python3 xz redis nginx} # or these only
for name in $programs; do
    case $name in
    perl) same_program perl bin/perl work.pl ;;
    python3) same_program python3 bin/python3 work.py ;;
    xz) same_program xz bin/xz -c -T2 -2 --block-size=128KiB data ;;
    redis) same_server redis TERM ask_redis bin/redis-server --port 0 --unixsocket "$work/socket" --save '' --io-threads 2 ;;
    nginx)
        seq 10000 >page
        configure_nginx "gzip on; gzip_types *; gzip_min_length 1; gzip_comp_level 9;" || fail "nginx does not take this configuration"
        same_server nginx QUIT ask_nginx sbin/nginx -c "$work/nginx.conf"
        ;;
    esac
done
echo ok
