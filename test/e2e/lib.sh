# shellcheck shell=sh disable=SC2034 # scripts use the variables
# SPDX-License-Identifier: MIT
#
# lib.sh: what the end-to-end scripts share. A script includes it first:
#
#   . "$SRC/test/e2e/lib.sh"
#
# It then stands in an empty folder $work that is removed at the end. Profiles are read by
# `go tool pprof -raw` alone, never by our own decoder. Weights are counts of samples; at 1000 Hz one
# sample is a millisecond of CPU time.
set -eu

exec </dev/null # cpprof reads what is given to it there
: "${BUILD:?the build directory}" "${SRC:?the source directory}"
library=$BUILD/lib/libpprof.so.0
victims=$BUILD/test/victims
linked=$BUILD/test/linked

work=$(mktemp -d)
# At the end of a test nothing it started is left: $started is a list of process ids. What has ended may have given its
# number to a process, or to a thread, of somebody else.
started=
is_of_this_test() { # PID
    case $(readlink "/proc/$1/cwd" 2>/dev/null) in
    "$work"*) return 0 ;;
    esac
    [ "$(sed 's/.*) [^ ]* \([0-9]*\).*/\1/' "/proc/$1/stat" 2>/dev/null)" = $$ ] ||
        grep -qsz "^PPROF_TMPDIR=$work\$" "/proc/$1/environ"
}
finish() {
    for process in $started; do
        ! is_of_this_test "$process" || kill -KILL "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"
# Where Debian has servers, and users do not look.
export PATH="$PATH:/usr/sbin:/sbin"
export PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work/none"
# What Go has built once is there for every test, also where $HOME is another folder.
GOCACHE=${GOCACHE:-$(go env GOCACHE 2>/dev/null || true)}
export GOCACHE
unset LIBPPROF CPUPROFILE CPUPROFILE_FREQUENCY CPUPROFILESIGNAL HEAPPROFILE LD_PRELOAD

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

# With PPROF_ABSENT=fails, as CI has it, a test does not leave out what could have been installed.
absent() {
    [ "${PPROF_ABSENT-}" != fails ] || fail "there is no $1; tools/bootstrap test installs what the tests need"
    skip "no $1"
}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || absent "$tool"
    done
}

# as_root WHY: goes on only as root. A user who may use sudo without a password runs the whole test by it.
as_root() {
    [ "$(id -u)" != 0 ] || return 0
    sudo -n true 2>/dev/null || skip "needs root, $1"
    as_root_status=0
    sudo -n env PATH="$PATH" BUILD="$BUILD" SRC="$SRC" PPROF_ABSENT="${PPROF_ABSENT-}" sh "$0" || as_root_status=$?
    exit "$as_root_status"
}

# preload OPTIONS COMMAND...: runs the command with the library.
preload() {
    preload_options=$1
    shift
    env LIBPPROF="$preload_options" LD_PRELOAD="$library" "$@"
}

# own_programs PATH...: goes on with a /bin/sh and /usr/bin/env of the library's libc, which system(), popen() and scripts
# begin, and such programs at these paths. In a namespace of mounts of this test; needs root.
own_programs() {
    ! is_musl "$library" || is_musl "$(readlink -f /bin/sh)" && return 0
    as_root "to mount a /bin/sh for musl"
    need unshare mount
    rm -rf "$work"
    # shellcheck disable=SC2016 # the inner shell's
    exec unshare -m sh -c 'own=$(dirname "$(command -v env)")
    for program; do
        mount --bind "$(readlink -f "$own/${program##*/}")" "$(readlink -f "$program")" || exit
    done
    exec sh "$0"' "$0" /bin/sh /usr/bin/env "$@"
}

# find_signal_env: $signal_env COMMAND... undoes that a shell without job control starts what runs beside it with SIGINT
# ignored. It is GNU's env; the first one may be busybox's.
find_signal_env() {
    for signal_env in env /usr/bin/env; do
        signal_env="$signal_env --default-signal=INT,TERM"
        ! $signal_env true 2>/dev/null || return 0
    done
    skip "env has no --default-signal"
}

# for_everybody FILE: the path of a copy that every user may read and run; the project may lie in a folder of mode 0700.
for_everybody() {
    everybody=$work/everybody
    mkdir -p "$everybody"
    chmod 755 "$everybody"
    chmod a+x "$work"
    [ -e "$everybody/${1##*/}" ] || install -m 755 "$1" "$everybody/${1##*/}"
    echo "$everybody/${1##*/}"
}

# record FILE COMMAND...: the command's profile at 1000 Hz.
record() {
    record_file=$1
    shift
    preload "cpu:1000,file=$record_file" "$@"
}

# status COMMAND...: prints the exit status, 128 + n for signal n.
status() {
    status_value=0
    "$@" || status_value=$?
    echo "$status_value"
}

expect_equal() { # WHAT EXPECTED FOUND
    [ "$2" = "$3" ] || fail "$1: expected \"$2\", found \"$3\""
}

expect_contains() { # WHAT FILE TEXT
    grep -qF -- "$3" "$2" || fail "$1: no \"$3\" in: $(cat "$2")"
}

expect_no_file() {
    [ ! -e "$1" ] || fail "there is a file $1"
}

# wait_until COMMAND...: until the command succeeds; 90 seconds at most, or so often that on an emulated machine.
wait_most=$((90 * ${PPROF_PATIENCE:-1}))
wait_until() {
    read -r wait_begun wait_rest </proc/uptime
    until "$@"; do
        read -r wait_now wait_rest </proc/uptime
        [ $((${wait_now%.*} - ${wait_begun%.*})) -lt $wait_most ] || fail "waited $wait_most seconds for: $*"
        sleep 0.05
    done
}

# guest COMMAND...: starts a program that works until its input ends, descriptor 9. Its process is $guest; what it says is in
# guest.out and guest.err.
guest() {
    rm -f guest.in guest.out guest.err # what the last one has said is not waited for
    mkfifo guest.in
    "$@" <guest.in >guest.out 2>guest.err &
    guest=$!
    started="$started $guest"
    exec 9>guest.in
}

# ends_with STATUS PROCESS [OF WHAT]: a program that works until its input ends, descriptor 9.
ends_with() {
    exec 9>&-
    ends_status=0
    wait "$2" || ends_status=$?
    expect_equal "status ${3-of the program}" "$1" "$ends_status"
}

has_line() { # FILE LINE
    [ -e "$1" ] && grep -qxF -- "$2" "$1"
}

has_text() { # FILE TEXT
    [ -e "$1" ] && grep -qF -- "$2" "$1"
}

# is_over PID: a child of this shell has ended, whether or not it has been waited for.
is_over() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# ---- reading profiles ----

# What we have written, and nothing that the reader finds out by itself: "remote" has it look for names at the address
# that a profile was fetched from, which a file has not; it demangles, too, other than "none".
as_written=-symbolize=remote

# go_pprof WORDS...: `go tool pprof`, which takes ten times as long to find its program as that takes to read a profile.
pprof_program=
go_pprof() {
    [ -n "$pprof_program" ] || pprof_program=$(go tool -n pprof 2>/dev/null || echo none)
    if [ -x "$pprof_program" ]; then
        "$pprof_program" "$@"
    else
        go tool pprof "$@"
    fi
}

# raw FILE: what `go tool pprof -raw` prints, in FILE.raw; warnings fail the test.
raw() {
    [ -s "$1" ] || fail "no profile was written to $1"
    go_pprof "$as_written" -raw "$1" >"$1.raw" 2>"$1.err" ||
        fail "$1 is not readable: $(cat "$1.err")"
    [ ! -s "$1.err" ] || fail "reading $1: $(cat "$1.err")"
}

# stacks RAW: a line for each sample: its weight, a tab, then the function names, leaf first,
# tab-separated; where there is no name, the address.
stacks() {
    awk '
        /^Samples:/   { part = 1; next }
        /^Locations/  { part = 2; next }
        /^Mappings/   { part = 3; next }
        part == 1 && /^ *[0-9]+( +[0-9]+)?( +[0-9]+)?:/ {
            weights[++n] = $1; sub(/:$/, "", weights[n])
            sub(/^ *[0-9]+( +[0-9]+)?( +[0-9]+)?: ?/, "")
            ids[n] = $0
        }
        part == 2 && /^ *[0-9]+: 0x/ {
            id = $1; sub(/:/, "", id); address = $2
            line = $0
            sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "", line)
            sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=-?[0-9]+.*$/, "", line)
            sub(/ +$/, "", line)
            name[id] = line == "" ? address : line
        }
        END {
            for (i = 1; i <= n; i++) {
                depth = split(ids[i], list, " ")
                text = weights[i]
                for (k = 1; k <= depth; k++) text = text "\t" name[list[k]]
                print text
            }
        }' "$1"
}

# weight RAW: of all samples.
weight() { stacks "$1" | awk -F '\t' '{ sum += $1 } END { printf "%.0f\n", sum }'; }

# wall_us RAW NAME [STATE]: of a wall-clock profile, microseconds of the stacks that have the function, in
# that state.
wall_us() {
    awk -v wanted="$2" -v state="${3-}" '
        /^Samples:/ { part = 1; next }
        /^Locations/ { part = 2; next }
        /^Mappings/ { part = 3; next }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { n++; ns[n] = $2; sub(/:/, "", ns[n]); $1 = $2 = ""; ids[n] = $0; next }
        part == 1 && /state:/ { in_state[n] = $0 }
        part == 2 && $4 == wanted { sub(/:/, "", $1); is[$1] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                if (state != "" && in_state[i] !~ "state:\\[" state "\\]") continue
                count = split(ids[i], list, " ")
                for (k = 1; k <= count && !(list[k] in is); k++);
                if (k <= count) sum += ns[i]
            }
            printf "%d\n", sum / 1000
        }' "$1"
}

# weight_with RAW NAME...: of the samples whose stacks have all of these functions, leaf first, in
# this order.
weight_with() {
    weight_raw=$1
    shift
    stacks "$weight_raw" | awk -F '\t' -v wanted="$*" '
        BEGIN { count = split(wanted, want, " ") }
        {
            next_one = 1
            for (i = 2; i <= NF && next_one <= count; i++) if ($i == want[next_one]) next_one++
            if (next_one > count) sum += $1
        }
        END { printf "%.0f\n", sum }'
}

# weight_directly RAW NAME...: the same where these functions are neighbours.
weight_directly() {
    weight_raw=$1
    shift
    weight_wanted=$(printf '\t%s' "$@")
    stacks "$weight_raw" | awk -v wanted="$weight_wanted" -F '\t' \
        'index($0 "\t", wanted "\t") { sum += $1 } END { printf "%.0f\n", sum }'
}

# comments RAW
comments() { sed -n 's/^Comment: //p' "$1"; }

# expect_near WHAT EXPECTED FOUND TOLERANCE
expect_near() {
    awk -v expected="$2" -v found="$3" -v tolerance="$4" 'BEGIN {
        difference = found - expected
        exit !(difference <= tolerance && -difference <= tolerance)
    }' || fail "$1: expected $2 +- $4, found $3"
}

# expect_work WHAT MS FOUND TOLERANCE: of a function that uses MS by burn_ms (victims/burn.h), and what that has used beyond it.
expect_work() {
    [ -e "$work/burn.excess" ] || echo 0 >"$work/burn.excess"
    awk -v expected="$2" -v found="$3" -v tolerance="$4" '{ excess += $1 } END {
        exit !(found - expected <= tolerance + excess && expected - found <= tolerance)
    }' "$work/burn.excess" ||
        fail "$1: expected $2 +- $4, found $3, and the work was longer by $(tr '\n' ' ' <"$work/burn.excess")ms"
}

expect_at_least() { # WHAT LEAST FOUND
    awk -v least="$2" -v found="$3" 'BEGIN { exit !(found >= least) }' ||
        fail "$1: expected at least $2, found $3"
}

# What a thread used is known exactly; which function used it is known from the kernel's ticks: to one tick
# at each change from one function to another (4 ms at 250 Hz), if the thread does not avoid them: see
# victims/burn.h. A hypervisor that takes the processor away makes ticks late.

# expect_share NAME MS FOUND: a function that used MS was seen for about that.
expect_share() { expect_near "weight of $1" "$2" "$3" "$(percent "$2" 30)"; }

# attempts N FUNCTION: until it has succeeded once; for what chance may spoil, but not always.
attempts() {
    attempts_left=$1
    while [ "$attempts_left" -gt 1 ]; do
        if ("$2") 2>attempt.errors; then
            return 0
        fi
        attempts_left=$((attempts_left - 1))
    done
    "$2"
}

# percent TOTAL N: N percent of the total.
percent() { awk -v total="$1" -v n="$2" 'BEGIN { printf "%.1f\n", total * n / 100 }'; }

# rss_error PID BYTES: how far VmRSS, some BYTES, may be from what the kernel counts page by page: 2 percent, and before
# Linux 6.2 the pages that each thread keeps to itself, up to 64.
rss_error() {
    awk -v bytes="$2" -v kernel="$(uname -r)" -v page="$(getconf PAGESIZE)" '
        $1 == "Threads:" { split(kernel, v, "."); printf "%.1f\n", bytes / 50 + (v[1] * 100 + v[2] < 602 ? $2 * 64 * page : 0) }' \
        "/proc/$1/status"
}

# whole_percent RAW: the share of samples whose outermost frame is the program's entry point (told by
# the ELF header of mapping 1) or the loader's, which calls constructors by _dl_init, or has no caller as the unwind
# tables say (libc's clone functions, which have no name without debug files), or a name from ROOTS, or
# an address from ROOT_ADDRESSES. The files of a profile are in ROOT_FOLDER, if it is another system's. Samples that were
# settled from the clock of a thread that was there before the profile, and never had a sample, stand on
# pprof_lost_samples alone: as many as the comment speaks of are left out.
whole_percent() {
    whole_entries="$(entry_addresses "$1") $(outermost_addresses "$1") $(musl_roots "$1") ${ROOT_ADDRESSES:-}"
    awk -v entries="$whole_entries" -v roots="clone clone3 __clone __clone3 _start ${ROOTS:-}" '
        BEGIN {
            count = split(entries, list, " "); for (i = 1; i <= count; i++) entry[list[i]] = 1
            count = split(roots, list, " "); for (i = 1; i <= count; i++) root[list[i]] = 1
        }
        /^Comment: .* more (was|were) settled/ {
            settled = $0; sub(/ more (was|were) settled.*/, "", settled); sub(/.* /, "", settled)
        }
        /^Samples:/   { part = 1; next }
        /^Locations/  { part = 2; next }
        /^Mappings/   { part = 3; next }
        part == 1 && /^ *[0-9]+( +[0-9]+)?( +[0-9]+)?:/ {
            sub(/:/, " :")
            weights[++n] = $1
            depth[n] = NF - ($2 == ":" ? 2 : 3)
            outermost[n] = $NF
            called[n] = $(NF - 1)
        }
        part == 2 && /^ *[0-9]+: 0x/ { id = $1; sub(/:/, "", id); address[id] = $2; name[id] = $4 }
        END {
            for (i = 1; i <= n; i++) {
                id = outermost[i]
                if (name[id] in root || address[id] in entry || name[called[i]] == "_dl_init") good += weights[i]
                else if (depth[i] == 1 && name[id] == "pprof_lost_samples") alone += weights[i]
                else bad += weights[i]
            }
            bad += alone > settled ? alone - settled : 0
            printf "%.2f\n", good + bad ? 100 * good / (good + bad) : 100
        }' "$1"
}

# is_musl FILE: whether it is linked to musl.
is_musl() {
    LC_ALL=C readelf -lW "$1" 2>/dev/null | grep -q 'interpreter: .*/ld-musl-' ||
        LC_ALL=C readelf -dW "$1" 2>/dev/null | grep -Eq 'NEEDED.*\[libc\.(so|musl-[^]]*)\]'
}

# is_of_other_libc FILE: whether the file is a program or library for another libc than ours.
is_of_other_libc() {
    if is_musl "$library"; then
        LC_ALL=C readelf -lW "$1" 2>/dev/null | grep -q 'interpreter: .*/ld-linux-' ||
            LC_ALL=C readelf -dW "$1" 2>/dev/null | grep -q 'NEEDED.*\[libc\.so\.6\]'
    else
        is_musl "$1"
    fi
}

# has_cxx: whether there is a compiler of C++ for this libc. Debian has none for musl.
has_cxx() {
    ! is_musl "$library"
}

# cancel_signal: the signal of the samples, by which libc cancels threads.
cancel_signal() {
    if is_musl "$library"; then echo 33; else echo 32; fi
}

# The root addresses of a profile that lie in musl. It has no unwind tables; but only few of its functions never return and
# call the program: those that call main and a thread's function.
musl_roots() {
    awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 2; next } /^Mappings/ { part = 3; next }
        part == 1 && /^ *[0-9]+( +[0-9]+)?:/ { root[$NF] = 1 }
        part == 2 && /^ *[0-9]+: 0x/ { id = $1; sub(/:/, "", id)
            if (id in root && match($3, /^M=/)) { m = substr($3, 3); asked[m] = asked[m] " " $2; count[m]++ } }
        part == 3 && /^ *[0-9]+: 0x/ && $3 ~ /(musl.*\/libc[.]so|\/ld-musl-[^\/]*|\/libc[.]musl-[^\/]*)$/ {
            m = $1; sub(/:/, "", m); if (count[m] <= 4) print asked[m] }' "$1"
}

# The root addresses of a profile that lie in code of which the unwind tables say that nobody has called it.
outermost_addresses() {
    awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 2; next } /^Mappings/ { part = 3; next }
        part == 1 && /^ *[0-9]+( +[0-9]+)?( +[0-9]+)?:/ { root[$NF] = 1 }
        part == 2 && /^ *[0-9]+: 0x/ { id = $1; sub(/:/, "", id)
            if (id in root && match($3, /^M=/)) { m = substr($3, 3); asked[m] = asked[m] " " $2 } }
        part == 3 && /^ *[0-9]+: 0x/ { m = $1; sub(/:/, "", m)
            if (m in asked) { split($2, at, "/"); print $3, at[1], at[3], asked[m] } }' "$1" |
        while read -r outermost_path outermost_start outermost_offset outermost_asked; do
            outermost_ranges "${ROOT_FOLDER-}${outermost_path#"${ROOT_FOLDER-}"}" || continue
            for address in $outermost_asked; do
                outermost_at=$((address - outermost_start + outermost_offset))
                while read -r low high; do
                    [ $outermost_at -lt $((low)) ] || [ $outermost_at -ge $((high)) ] || echo "$address"
                done <"outermost.$(basename "$outermost_path")"
            done
        done | tr '\n' ' '
}

# outermost_ranges FILE: the file outermost.NAME has ranges of offsets in FILE of such code.
outermost_ranges() {
    [ -r "$1" ] || return 1
    [ -z "$(find "outermost.$(basename "$1")" -newer "$1" 2>/dev/null)" ] || return 0
    outermost_bias=$(LC_ALL=C readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $3 "-" $2; exit }')
    LC_ALL=C readelf --debug-dump=frames "$1" 2>/dev/null | awk '
        / FDE / { range = $NF; sub(/^pc=/, "", range) }
        / CIE/ { range = "" }
        /DW_CFA_undefined: r(16|30) / && range != "" { split(range, at, "[.][.]"); print "0x" at[1], "0x" at[2] }' |
        while read -r low high; do
            echo $((low - ($outermost_bias))) $((high - ($outermost_bias)))
        done >"outermost.$(basename "$1")"
}

# The root addresses of a profile that lie within the first 64 bytes of the program's entry point.
entry_addresses() {
    # "1: 0x55d0c0a4e000/0x55d0c0a5f000/0x4000 /path/program BUILD_ID [FN]"
    entry_mapping=$(sed -n '/^Mappings/,$ s/^1: //p' "$1")
    entry_start=${entry_mapping%%/*}
    entry_offset=${entry_mapping#*/*/}
    entry_offset=${entry_offset%% *}
    entry_path=$(echo "$entry_mapping" | sed 's/^[^ ]* //; s/ [0-9a-f]\{16,\}.*$//; s/ \[FN\].*$//; s/ *$//')
    entry_path=${ROOT_FOLDER-}${entry_path#"${ROOT_FOLDER-}"}
    entry_elf=$(LC_ALL=C readelf -hl "$entry_path" 2>/dev/null | awk '
        /Entry point address:/ { entry = $NF }
        /^ *LOAD/ { offset = $2; address = $3; getline; if ($0 ~ /R E/ && !seen) { seen = 1; o = offset; a = address } }
        END { print entry, o, a }')
    # shellcheck disable=SC2086 # three numbers
    set -- "$1" $entry_elf
    entry_low=$((entry_start - entry_offset + $3 - $4 + $2))
    awk '/^Samples:/ { part = 1; next } /^Locations/ { part = 2; next } /^Mappings/ { part = 3; next }
        part == 1 && /^ *[0-9]+ +[0-9]+:/ { root[$NF] = 1 }
        part == 2 && /^ *[0-9]+: 0x/ { id = $1; sub(/:/, "", id); if (id in root) print $2 }' "$1" |
        while read -r address; do
            if [ "$((address - entry_low))" -ge 0 ] && [ "$((address - entry_low))" -lt 64 ]; then
                echo "$address"
            fi
        done | tr '\n' ' '
}

# ---- programs that are not ours ----

# expect_whole FILE: at least 99 % of the weight lies in stacks that reach the program's entry or a
# thread's (all but two samples of less than 200), and no reader has anything to complain about.
expect_whole() {
    raw "$1"
    whole_least=$(awk -v total="$(weight "$1.raw")" \
        'BEGIN { print total < 20 ? 0 : total < 200 ? 100 - 201 / total : 99 }')
    expect_at_least "percent of whole stacks in $1, $(comments "$1.raw")" "$whole_least" \
        "$(whole_percent "$1.raw")"
    for report in -top -traces; do
        go_pprof "$as_written" $report "$1" >"$1.report" 2>"$1.err" || fail "$report $1: $(cat "$1.err")"
        # The interactive hints that go with some versions are no warnings.
        ! grep -Ev '^(Main binary filename not available\.)?$' "$1.err" >&2 || fail "$report $1"
    done
}

# find_postgres: $postgres is the folder of its programs.
find_postgres() {
    postgres=$(find /usr/lib/postgresql -name initdb 2>/dev/null | sort | tail -n 1)
    postgres=${postgres%/initdb}
    [ -n "$postgres" ]
}

# prepare_postgres FOLDER...: makes an empty database in data, and FOLDERs that postgres may write. `as COMMAND...` runs a
# command as its user.
as() { "$@"; }
prepare_postgres() {
    mkdir data "$@"
    if [ "$(id -u)" = 0 ]; then # it does not run as root
        need runuser
        id postgres >/dev/null 2>&1 || skip "no user postgres"
        as() { runuser -u postgres -- "$@"; }
        chmod 755 .
        chown postgres data "$@"
    fi
    as "$postgres/initdb" -U postgres -D "$work/data" -A trust -N >initdb.log 2>&1 || fail "initdb: $(cat initdb.log)"
}

# configure_nginx LINES: nginx.conf of one worker that serves $work on the socket $work/socket, with these LINES
# in the section http. Fails if nginx does not take it.
configure_nginx() {
    nginx_user=
    [ "$(id -u)" != 0 ] || nginx_user="user $(id -un);"
    cat >nginx.conf <<CONF
daemon off; $nginx_user worker_processes 1; error_log $work/errors.log; pid $work/pid;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $work/a; proxy_temp_path $work/b; fastcgi_temp_path $work/c;
    uwsgi_temp_path $work/d; scgi_temp_path $work/e;
    $1
    server { listen unix:$work/socket; root $work; }
}
CONF
    nginx -t -c "$work/nginx.conf" 2>/dev/null
}

# arrives FILE COMMAND...: the same by `cpprof record`, for a program that may write no file at its end (xz, in a sandbox).
arrives() {
    arrives_file=$1
    shift
    "$BUILD/bin/cpprof" record -F 1000 -o "$arrives_file" -- "$@"
}

# what_it_says: its messages, without those that `cpprof record` ends with.
what_it_says() { sed '/^cpprof: wrote /,$d' "$1"; }

# same_run NAME COMMAND...: status and output are the same with the library as without; the profile is
# NAME.pb.gz. $same_by: arrives, or record.
same_by=record
same_run() {
    same_name=$1
    shift
    same_plain=0
    "$@" >"$same_name.plain" 2>"$same_name.plain.err" || same_plain=$?
    same_found=0
    $same_by "$work/$same_name.pb.gz" "$@" >"$same_name.out" 2>"$same_name.out.err" || same_found=$?
    expect_equal "status of $same_name" "$same_plain" "$same_found"
    cmp "$same_name.plain" "$same_name.out" >&2 || fail "$same_name has another output"
    expect_equal "messages of $same_name" "$(cat "$same_name.plain.err")" "$(what_it_says "$same_name.out.err")"
}

# same_as_without NAME LEAST COMMAND...: the same, and the profile has at least LEAST samples and is whole.
same_as_without() {
    same_name=$1
    same_least=$2
    shift 2
    same_run "$same_name" "$@"
    expect_whole "$same_name.pb.gz"
    expect_at_least "weight of $same_name" "$same_least" "$(weight "$same_name.pb.gz.raw")"
}

# ---- reading heap profiles ----

# blocks RAW: a line for each sample: blocks and bytes allocated, blocks and bytes in use, the size of
# the label, then a tab and the function names, leaf first, tab-separated.
blocks() {
    awk '
        /^Samples:/   { part = 1; next }
        /^Locations/  { part = 2; next }
        /^Mappings/   { part = 3; next }
        part == 1 && /^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+:/ {
            n++
            line = $0; sub(/:.*/, "", line); gsub(/ +/, " ", line); sub(/^ /, "", line)
            numbers[n] = line
            sub(/^[^:]*: ?/, ""); ids[n] = $0; size[n] = "-"
            next
        }
        part == 1 && /bytes:\[/ {
            line = $0; sub(/.*bytes:\[/, "", line); sub(/[^0-9].*/, "", line); size[n] = line
        }
        part == 2 && /^ *[0-9]+: 0x/ {
            id = $1; sub(/:/, "", id); address = $2
            line = $0
            sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "", line)
            sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=-?[0-9]+.*$/, "", line)
            sub(/ +$/, "", line)
            name[id] = line == "" ? address : line
        }
        END {
            for (i = 1; i <= n; i++) {
                depth = split(ids[i], list, " ")
                text = numbers[i] " " size[i]
                for (k = 1; k <= depth; k++) text = text "\t" name[list[k]]
                print text
            }
        }' "$1"
}

# blocks_of RAW NAME...: "BLOCKS BYTES BLOCKS_IN_USE BYTES_IN_USE" of the stacks that have these
# functions, leaf first, in this order. Without a name: of all.
blocks_of() {
    blocks_raw=$1
    shift
    blocks "$blocks_raw" | awk -F '\t' -v wanted="$*" '
        BEGIN { count = split(wanted, want, " ") }
        {
            next_one = 1
            for (i = 2; i <= NF && next_one <= count; i++) if ($i == want[next_one]) next_one++
            if (next_one > count) { split($1, v, " "); for (k = 1; k <= 4; k++) sum[k] += v[k] }
        }
        END { printf "%.0f %.0f %.0f %.0f\n", sum[1], sum[2], sum[3], sum[4] }'
}

# leaves_of RAW NAME: the leaf functions of the stacks that have this function, sorted.
leaves_of() {
    blocks "$1" | awk -F '\t' -v name="$2" '
        { for (i = 2; i <= NF; i++) if ($i == name) { print $2; next } }' | sort -u | tr '\n' ' ' |
        sed 's/ $//'
}

# allocators_of RAW: the functions at leaves that are the allocator's, sorted. Where a stack is nothing else they are shown.
allocators_of() {
    blocks "$1" | awk -F '\t' '{ sub(/^ +/, "", $2); print $2 }' | sort -u | grep -E -x \
        '(__(libc_)?)?(malloc|calloc|realloc(array)?|memalign|posix_memalign|aligned_alloc|p?valloc)(@plt)?|operator new.*|(je|_rjem|tc|mi)_.*|[mr]allocx' |
        tr '\n' ' ' | sed 's/ $//'
}

# field N TEXT
# A number, or "3-" for the third and all behind it.
field() { echo "$2" | cut -d ' ' -f "$1"; }
