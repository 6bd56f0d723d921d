#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_terminal.sh: what cpprof does on a terminal, and nowhere else: colours, a pager. It ends quietly if nobody reads on, and
# takes the newest profile of the folder if the user names none.
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

command -v script >/dev/null || {
    echo "skipped: no script, which makes terminals"
    exit 77
}

# on_terminal COMMAND...: runs it with a terminal as its standard output; what it prints is in out, without the \r.
on_terminal() {
    TERM=xterm script -qec "$*" script.log </dev/null | tr -d '\r' >out
}

escape=$(printf '\033')
profile=$go/cpu.pb.gz
plain=$work/plain.expected peeked=$work/peeked.expected
"$cpprof" top "$profile" >"$plain"
"$cpprof" peek 'main\.' "$profile" >"$peeked"
export CPPROF_PAGER=cat

# ---- colours

on_terminal "$cpprof" top "$profile"
grep -q "$escape\[31m72.29%$escape\[m.*main.hog1" out || fail "no colour on a terminal: $(cat out)"
grep -q "^$escape\[1m *flat" out || fail "no heading on a terminal: $(cat out)"
sed "s/$escape\[[0-9]*m//g" out | cmp -s - "$plain" || fail "colours change the text: $(cat out)"
for plainly in "env NO_COLOR=1 $cpprof top" "env TERM=dumb $cpprof top" "$cpprof top --color=never"; do
    on_terminal "$plainly" "$profile"
    cmp -s out "$plain" || fail "$plainly: colours: $(cat out)"
done
expect "$plain" top "$profile"
for verb in top tree "peek hog" diff "list ."; do
    files=$profile
    [ "$verb" != diff ] || files="$profile $profile"
    # shellcheck disable=SC2086 # words
    NO_COLOR=1 run 0 $verb --color=always $files
    sed "s/$escape\[[0-9]*m//g" out >bleached
    grep -q "$escape\[1m" out || fail "$verb --color=always: no colour"
    # shellcheck disable=SC2086 # words
    expect bleached $verb $files
done

# ---- the pager

# paged EXPECTED COMMAND...: whether a pager reads the report.
paged() {
    expected=$1
    shift
    rm -f paged
    on_terminal "$@"
    found=no
    [ ! -s paged ] || found=yes
    [ $found = "$expected" ] || fail "$*: expected a pager: $expected, found: $found"
}

cat >pager <<'SH'
#!/bin/sh
cat >paged
SH
chmod +x pager
unset CPPROF_PAGER
export PAGER=false
paged yes env "CPPROF_PAGER=$work/pager" "$cpprof" top --color=never "$profile"
cmp -s paged "$plain" || fail "the pager gets another text: $(cat paged)"
[ ! -s out ] || fail "the pager has the report, and so has the terminal: $(cat out)"
paged yes env "PAGER=$work/pager" "$cpprof" tags "$profile"
paged yes env "PAGER='tr a b >paged'" "$cpprof" top "$profile"
paged no env "CPPROF_PAGER=$work/pager" "$cpprof" top --no-pager "$profile"
paged no env "CPPROF_PAGER=$work/pager" "$cpprof" top --json "$profile"
paged no env CPPROF_PAGER= "PAGER=$work/pager" "$cpprof" top --color=never "$profile"
cmp -s out "$plain" || fail "an empty CPPROF_PAGER: $(cat out)"
paged no env CPPROF_PAGER=no-such-pager "$cpprof" top --color=never "$profile"
cmp -s out "$plain" || fail "a pager that is not there: $(cat out)"
rm -f paged
CPPROF_PAGER=$work/pager "$cpprof" top "$profile" >out
[ ! -e paged ] && cmp -s out "$plain" || fail "a pager for a file"

# ---- what is no text

for words in "merge -o - $profile" "convert -o - --to pb.gz $profile" "convert --to pb $profile" "symbolize -o - $profile" \
    "record -o - -- touch recorded"; do
    on_terminal "$cpprof" "$words"
    grep -q "expected a pipe or a file for a profile, which is no text, found a terminal" out ||
        fail "$words on a terminal: $(head -c 200 out)"
    grep -q "see .cpprof help ${words%% *}" out || fail "$words on a terminal: no word of the help: $(cat out)"
done
[ ! -e recorded ] || fail "record -o - ran the command although a terminal is no place for the profile"
on_terminal "$cpprof" merge -o /dev/stdout "$profile"
[ "$(head -c 2 out | od -An -tx1 | tr -d ' ')" = 1f8b ] || fail "merge -o /dev/stdout on a terminal: $(head -c 200 out)"
on_terminal "$cpprof" convert -o - --to folded "$profile"
grep -q "main.hog1 600000000$" out || fail "convert -o - of a text, on a terminal: $(cat out)"
"$cpprof" merge -o - "$profile" | "$cpprof" top - | cmp -s - "$plain" || fail "merge -o - into a pipe"

# ---- nobody reads on

# ends_quietly SHELL-COMMAND...: the command, whose reader is gone before it begins, ends by SIGPIPE and says nothing.
mkfifo reader
ends_quietly() {
    : <reader &
    exec 3>reader # waits for the reader
    wait $!
    "$@" >&3 2>err
    got=$?
    exec 3>&-
    [ $got = 141 ] || fail "$*: expected status 141, found $got"
    [ ! -s err ] || fail "$*: $(cat err)"
}
ends_quietly "$cpprof" top "$profile"
! /usr/bin/env --ignore-signal=PIPE true 2>/dev/null || ends_quietly /usr/bin/env --ignore-signal=PIPE "$cpprof" top "$profile"

# ---- the newest profile of the folder

mkdir folder
cd folder || exit 1
for verb in top tree traces tags raw "peek x" "list x" flame web; do
    # shellcheck disable=SC2086 # words
    refuse 2 "${verb% x}: expected FILE, found none, nor a *.pb.gz in this folder" $verb
done
cp "$go/heap.pb.gz" old.pb.gz
cp "$profile" new.pb.gz
touch -d 2020-01-01 old.pb.gz
expect "$plain" top
grep -qx "cpprof: top: new.pb.gz, the newest profile in this folder" err || fail "top without FILE: $(cat err)"
expect "$peeked" peek 'main\.'
run 0 flame
[ -s new.html ] || fail "flame without FILE: $(cat out err)"

# ---- what is given at standard input comes first

# given COMMAND...: what the command reads from a pipe, and from a file, is the report of the profile, and it says nothing.
given() {
    expected=$1
    shift
    cat "$profile" | "$@" >out 2>err
    cmp -s out "$expected" && ! grep -v "waiting for a profile" err || fail "$* with a pipe: $(cat err out)"
    "$@" <"$profile" >out 2>err
    cmp -s out "$expected" && [ ! -s err ] || fail "$* with a file: $(cat err out)"
}
cp "$go/heap.pb.gz" newer.pb.gz
given "$plain" "$cpprof" top
given "$peeked" "$cpprof" peek 'main\.'
echo profile.html >expected
given expected "$cpprof" flame
[ -s profile.html ] || fail "flame of standard input wrote no page"
given /dev/null "$cpprof" symbolize -o given.pb.gz
expect "$plain" top given.pb.gz
# An empty pipe or file is what a command gets that shall read nothing.
: >empty
for nothing in "printf '' |" "exec <empty;" "exec <&-;"; do
    sh -c "$nothing $cpprof top" >out 2>err
    grep -q "given.pb.gz, the newest profile in this folder" err || fail "$nothing cpprof top: $(cat err)"
done
# A pipe whose writer is late is read. If it is very late, the user hears what is waited for.
mkfifo late
(
    read -r _ <late
    cat "$profile"
) | {
    exec 3<&0 # what is in the background has no standard input otherwise
    "$cpprof" top <&3 >out 2>err &
    echo go >late
    wait $!
}
cmp -s out "$plain" || fail "a pipe whose writer is late: $(cat err)"
mkfifo silent
"$cpprof" top <silent >out 2>err &
exec 3>silent
attempt=0
until grep -q "cpprof: top: waiting for a profile at standard input" err || [ $attempt = 1200 ]; do
    attempt=$((attempt + 1))
    sleep 0.05
done
cat "$profile" >&3
exec 3>&-
wait $!
cmp -s out "$plain" && [ "$(wc -l <err)" = 1 ] || fail "a pipe whose writer is very late: $(cat err)"
"$cpprof" top - </dev/null >out 2>err
grep -q "standard input: byte 0: expected a profile, found an empty file" err || fail "- of nothing: $(cat err)"
TERM=xterm script -qec "$cpprof top" script.log </dev/null | grep -q "given.pb.gz, the newest profile in this folder" ||
    fail "a terminal at standard input is read: $(cat script.log)"

finish_tests
