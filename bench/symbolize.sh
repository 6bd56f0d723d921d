#!/bin/sh
# SPDX-License-Identifier: MIT
#
# symbolize: lines and inlined functions of 10 000 random addresses of a program, by `cpprof symbolize` beside
# llvm-symbolizer on the same file: seconds of CPU time (the machine may be busy) and megabytes, the best of some runs.
#
#   symbolize.same   the share of addresses, of those that llvm-symbolizer knows something of, for which both name the
#                    same functions, files and lines. Not compared are folders, and which of several names of one
#                    function it is: constructors (C1, C2, C4), suffixes of clones, __libc_write for write.
#
#   SYMBOLIZE_FILE=PROGRAM   another program than libc with its debug file. With at least 100 MB of DWARF, from Debian:
#                            apt-get download ceph-osd ceph-osd-dbg; dpkg -x both to ROOT; then
#                            eu-unstrip -o PROGRAM ROOT/usr/bin/ceph-osd ROOT/usr/lib/debug/.build-id/fb/66b3*.debug

set -eu
cpprof=${LIBRARY%/lib/*}/bin/cpprof
count=10000 runs=5
[ "$BENCH" != quick ] || count=2000 runs=2
export LC_ALL=C
cd "$WORK"

# The debug file of libc has no code: llvm-symbolizer finds it by itself, as cpprof does.
program=${SYMBOLIZE_FILE:-$(ldd /bin/true | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')}
program=$(realpath "$program")
echo "# symbolize: $program, $(wc -c <"$program") bytes"

# "ADDRESS OFFSET SIZE" of the code's segment, in hexadecimal digits.
segment=$(readelf -lW "$program" | awk '$1 == "LOAD" && / R E / { print substr($3, 3), substr($2, 3), substr($5, 3); exit }')
text=$(readelf -SW "$program" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p')
# shellcheck disable=SC2086 # words
set -- $segment $text
awk -v count=$count -v from=$((0x$4)) -v size=$((0x$5)) '
    BEGIN { srand(7); for (i = 0; i < count; i++) printf "0x%x\n", from + int(rand() * size) }' | sort -u >addresses

# A profile as text, mapped to where the file says; its rows are return addresses.
{
    echo "addresses profile: total $(wc -l <addresses)"
    while read -r address; do
        printf '1 @ 0x%x\n' $((address + 1))
    done <addresses
    printf '\n--- Memory map: ---\n%x-%x r-xp %08x 00:00 0 %s\n' $((0x$1 & ~4095)) $(((0x$1 + 0x$3 + 4095) & ~4095)) \
        $((0x$2 & ~4095)) "$program"
} >profile

# best COMMAND...: "SECONDS MEGABYTES"; standard input is the addresses.
best() {
    run=0
    while [ $run -lt $runs ]; do
        "$PROGRAMS/viewer" run "$@" <addresses
        run=$((run + 1))
    done | sort -k 2n | awk 'NR == 1 { seconds = $2; least = $3 } $3 < least { least = $3 } END { print seconds, least }'
}

figures() { # WHO FIGURES
    echo "symbolize.time.$1 ${2% *} s"
    echo "symbolize.memory.$1 ${2#* } MB"
}
"$cpprof" symbolize --demangle=none -o symbolized.pb.gz profile 2>complaints || true
if grep 'libpprof-dwarf.so' complaints | sed 's/^/# not measured: /' | grep .; then
    exit 0
fi
figures pprof "$(best "$cpprof" symbolize --demangle=none -o symbolized.pb.gz profile)"
if ! command -v llvm-symbolizer >/dev/null; then
    echo "# not installed: llvm-symbolizer"
    exit 0
fi
figures llvm "$(best llvm-symbolizer --no-demangle -e "$program")"

# plain: functions and places of an address on a line, so that both can be compared.
plain() {
    sed -E 's/([ |])_+((libc|new|GI|IO)_+)?/\1/g; s/(C|D)[124]E/\1E/g; s/\.(part|constprop|isra|cold|lto_priv|localalias)(\.[0-9]+)?//g
        s/[^ ]*\/([^ \/]*:[0-9]+)/\1/g'
}
"$cpprof" raw --style=go1.19 --symbolize=none --demangle=none symbolized.pb.gz | awk '
    /^Locations/ { part = 1; next }
    /^Mappings/  { exit }
    part {
        sub(/ s=-?[0-9]+.*$/, "")
        if (/^ *[0-9]+: 0x/) { if (n++) print line; line = $2; sub(/^.* M=1 ?/, "") }
        sub(/^ +/, ""); sub(/ :0$/, " ??:0")
        line = line "|" $0
    }
    END { print line }' | sort | plain | sed 's/^[^|]*//; s/^|$/|?? ??:0/' >ours
llvm-symbolizer --no-demangle --addresses -e "$program" <addresses | awk -v RS= -F '\n' '
    { line = $1
      for (i = 2; i < NF; i += 2) { sub(/:[0-9]+$/, "", $(i + 1)); line = line "|" $i " " $(i + 1) }
      print line }' | sort | plain | sed 's/^[^|]*//' >theirs
paste -d '\n' ours theirs | awk '
    NR % 2 { ours = $0; next }
    $0 == "|?? ??:0" || $0 == "|??:0" { next }
    { all++; same += ours == $0; if (ours != $0) print ours "\n" $0 "\n" >"different" }
    END { printf "symbolize.same.pprof %.2f %%\n", 100 * same / all }'
