# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# lines.sh: what the tests of symbolize=lines (test_lines*.sh) share. A script includes it first, in place of lib.sh.
#
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
[ -e "$BUILD/lib/libpprof-dwarf.so" ] || skip "libpprof-dwarf.so is not built: there is no libdw-dev"

# Every go tool pprof that is here: the newest first in $PATH, the distribution's.
# shellcheck disable=SC2034 # scripts use it
gos=$(for go in "$(command -v go || :)" /usr/local/go/bin/go /usr/bin/go; do
    [ ! -x "$go" ] || echo "$go"
done | awk '!seen[$0]++')

# line_of FILE TEXT: the number of the line that has the text.
line_of() {
    grep -nF -- "$2" "$1" | cut -d : -f 1 | head -n 1
}

# places PROFILE: each location of mapping 1 as it was written, on a line: its address, a tab, then "function file:line"
# of all of its functions, innermost first, tab-separated.
places() {
    go_pprof -symbolize=none -raw "$1" 2>/dev/null | awk '
        function take(text) {
            sub(/ s=-?[0-9]+.*$/, "", text)
            if (text ~ /:[0-9]+:[0-9]+$/) sub(/:[0-9]+$/, "", text) # the column
            if (text ~ / :0$/) sub(/ :0$/, "", text)
            sub(/^ +/, "", text)
            return text
        }
        /^Locations/ { part = 1; next }
        /^Mappings/  { part = 0; if (line != "") print line; line = "" }
        part && /^ *[0-9]+: 0x/ {
            if (line != "") print line
            line = ""
            if ($3 == "M=1") { text = $0; sub(/^.* M=1 ?/, "", text); line = $2 "\t" take(text) }
            next
        }
        part && line != "" { line = line "\t" take($0) }'
}

# addresses_in FILE PROFILE: the addresses of the locations of mapping 1 as they are in the file.
addresses_in() {
    # "1: 0x55d0c0a4e000/0x55d0c0a5f000/0x4000 /path/program BUILD_ID"
    in_mapping=$(go_pprof -symbolize=none -raw "$2" 2>/dev/null | sed -n '/^Mappings/,$ s/^1: //p')
    in_start=${in_mapping%%/*}
    in_offset=${in_mapping#*/*/}
    in_offset=${in_offset%% *}
    # Of the segment with code: where it lies in the file and in memory.
    in_segment=$(LC_ALL=C readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
    places "$2" | cut -f 1 | while read -r address; do
        printf '0x%x\n' $((address - in_start + in_offset - ${in_segment% *} + ${in_segment#* }))
    done
}

# addr2line_places FILE ADDRESSES: the same as places(), of a file with these addresses on its lines.
addr2line_places() {
    xargs addr2line -afie "$1" <"$2" | awk '
        /^0x/ { if (line != "") print line; line = "-"; next }
        { function_name = $0; getline; sub(/ \(discriminator [0-9]+\)$/, ""); sub(/:\?$/, ":0")
          line = line "\t" function_name ($0 == "??:0" ? "" : " " $0) }
        END { if (line != "") print line }'
}

# llvm_places FILE ADDRESSES
llvm_places() {
    xargs llvm-symbolizer --no-demangle -e "$1" <"$2" | awk -v RS= -F '\n' '
        { line = "-"
          for (i = 1; i < NF; i += 2) {
              place = $(i + 1)
              sub(/:[0-9]+$/, "", place) # the column
              line = line "\t" $i (place ~ /^\?\?:0/ ? "" : " " place)
          }
          print line }'
}

# expect_same_places PROFILE FILE: another reader of debug information says the same of all addresses. addr2line gives
# what was inlined the name of the function that it is in, where that is mangled: its names are not compared.
expect_same_places() {
    places "$1" | cut -f 2- | sed 's/^/-\t/' >ours
    addresses_in "$2" "$1" >addresses
    [ -s addresses ] || fail "no location of $2 in $1"
    if command -v llvm-symbolizer >/dev/null; then
        llvm_places "$2" addresses >theirs
    elif command -v addr2line >/dev/null; then
        sed -i 's/\t[^\t]* \([^\t ]*:[0-9]*\)/\t\1/g' ours
        addr2line_places "$2" addresses | sed 's/\t[^\t]* \([^\t ]*:[0-9]*\)/\t\1/g' >theirs
    else
        return 0
    fi
    # An entry of the PLT is in no symbol: others give it the name of the one before.
    awk -F '\t' 'NR == FNR { ours[NR] = $0; next }
        ours[FNR] ~ /^-\t(\[|.*@plt$)/ && $0 == "-\t_init" { $0 = ours[FNR] }
        { print }' ours theirs >theirs.named
    diff ours theirs.named >differences || fail "$1: ours (<) and what is said of $2 (>): $(cat differences)"
}
