# SPDX-License-Identifier: MIT
#
# text_form.awk: reads a profile in text (heap, contention, counts), Go's or ours, and prints
#
#   -v show=forms     the forms that its lines have, in the order in which they come first: numbers are
#                      N, addresses X, names NAME, places PLACE, what is quoted Q
#   -v show=follows   which form is followed by which; without the frames that have no name, with nameless=no
#   -v show=records   a line for each row: its numbers, a tab, its labels, a tab, its functions, leaf first
#   -v show=totals    the sums of the rows' numbers
#
# What must hold in every such text whatever it holds is checked on the way; what does not is said, and
# the status is 1: columns are aligned as a tab writer aligns them, comments name the row's addresses less one,
# in their order, a function begins at one address, rows are in order, and the header has their totals.

function problem(what) {
    print FILENAME ":" NR ": " what ": " $0 >"/dev/stderr"
    status = 1
}

function number_of(hex,    i, value) {
    value = 0
    for (i = 3; i <= length(hex); i++)
        value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return value
}

function form(text) {
    if (!(text in known)) {
        known[text] = 1
        forms[++form_count] = text
    }
    if (last != "" && !((last, text) in follows)) {
        follows[last, text] = 1
        follow_list[++follow_count] = last "  ->  " text
    }
    last = text
}

# ---- columns: cells are padded by tabs to the next multiple of 8 that leaves a blank ----

function pad(cell, widest,    column, at, text) {
    column = int((widest + 8) / 8) * 8
    for (at = length(cell); at < column; at = (int(at / 8) + 1) * 8)
        text = text "\t"
    return text
}

# Lines that follow each other share their columns.
function check_columns(    i, a, b) {
    a = b = 0
    for (i = 1; i <= block; i++) {
        if (length(cell_1[i]) > a) a = length(cell_1[i])
        if (length(cell_2[i]) > b) b = length(cell_2[i])
    }
    for (i = 1; i <= block; i++)
        if (line[i] != "#\t" cell_1[i] pad(cell_1[i], a) cell_2[i] pad(cell_2[i], b) cell_3[i])
            problem("columns of \"" line[i] "\"")
    block = 0
}

# ---- records ----

function end_record() {
    check_columns()
    if (row != "" && show == "records") print row "\t" labels "\t" names
    row = labels = names = ""
}

function begin_record(numbers, value,    i) {
    end_record()
    row = numbers
    rows++
    if (rows > 1 && value > last_value) problem("out of order")
    last_value = value
    depth = 0
    for (i = 1; i <= NF && $i != "@"; i++) {
        sub(/^\[/, "", $i)
        sum[i] += $i
    }
    columns = i - 1
    for (i++; i <= NF; i++) address[++depth] = number_of($i)
    next_address = 1
}

function check_address(hex,    value) {
    value = number_of(hex)
    # What was inlined has the address of what it was inlined into, which follows.
    if (next_address > 1 && address[next_address - 1] == value + 1) return
    while (next_address <= depth && address[next_address] != value + 1) next_address++
    # A row without a stack, and what stands for it.
    if (next_address > depth && !(value == 0 && depth <= 1)) problem("no address of the row, or not in its order")
    next_address++
}

function check_entry(name, entry) {
    if (name in entries && entries[name] != entry && !(name in twice)) {
        # File-local functions may share a name; a third entry is a mistake.
        twice[name] = 1
        other[name] = entry
    } else if (name in twice && entries[name] != entry && other[name] != entry) {
        problem("functions begin somewhere else: " name)
    } else if (!(name in entries)) {
        entries[name] = entry
    }
}

function take_frame(text,    part, hex, name) {
    split(text, part, /\t+/)
    hex = part[2]
    check_address(hex)
    if (part[3] == "") {
        check_columns()
        if (nameless != "no") form("#<TAB>X")
        return
    }
    if (part[3] !~ /\+0x[0-9a-f]+$/) problem("no offset")
    name = part[3]
    sub(/\+0x[0-9a-f]+$/, "", name)
    check_entry(name, number_of(hex) - number_of(substr(part[3], length(name) + 2)))
    names = names (names == "" ? "" : " ") name
    line[++block] = text
    cell_1[block] = hex
    cell_2[block] = part[3]
    cell_3[block] = part[4]
    if (part[4] == "" || part[5] != "") problem("not three cells")
    form("#<TAB>X<TABS>NAME+X<TABS>PLACE")
}

# ---- lines ----

maps { next }
/^--- Memory map: ---$/ || /^MAPPED_LIBRARIES:$/ { maps = 1; form($0); next }

/^#\t/ { take_frame($0); next }

/^[0-9]+: [0-9]+ \[[0-9]+: [0-9]+\] @/ {
    text = $0
    gsub(/[:\]]/, "", text)
    sub(/ @.*/, "", text)
    sub(/\[/, "", text)
    begin_record(text, $2 + 0)
    form("N: N [N: N] @ X...")
    next
}
/^[0-9]+ [0-9]+ @/ { begin_record($1 " " $2, $1 + 0); form("N N @ X..."); next }
/^[0-9]+ @/        { begin_record($1, $1 + 0); form("N @ X..."); next }

/^# labels: / {
    labels = $0
    sub(/^# labels: /, "", labels)
    text = labels
    gsub(/"([^"\\]|\\.)*"/, "Q", text)
    while (sub(/, Q:Q/, "", text)) ;
    form("# labels: " text)
    next
}

/^heap profile: / { header = $0 }
/^[^ ]+ profile: total / { header = $0 }

/^$/ { end_record(); form("<blank>"); next }

{
    text = $0
    rate = ""
    if (/^heap profile: /) { rate = text; sub(/.* @ /, " @ ", rate); sub(/ @ .*/, "", text) }
    gsub(/[0-9]+/, "N", text)
    text = text rate
    gsub(/\[N( N)+\]/, "[N...]", text)
    gsub(/N\.N(e-?N)?/, "N", text)
    form(text)
}

END {
    end_record()
    if (header ~ /^heap profile: /) {
        # Never the same bytes twice, which readers take for a profile of what is in use only.
        expected = sprintf("heap profile: %d: %d [%d: %d] @", sum[1], sum[2], sum[3],
            sum[4] == sum[2] ? sum[4] + 1 : sum[4])
        if (index(header, expected) != 1) problem("totals: " expected " and not " header)
    } else if (header != "") {
        expected = sprintf(" profile: total %d", sum[1])
        if (substr(header, length(header) - length(expected) + 1) != expected) problem("totals: " expected)
    }
    if (show == "forms") for (i = 1; i <= form_count; i++) print forms[i]
    if (show == "follows") for (i = 1; i <= follow_count; i++) print follow_list[i]
    if (show == "totals") for (i = 1; i <= columns; i++) printf "%d%s", sum[i], i < columns ? " " : "\n"
    exit status
}
