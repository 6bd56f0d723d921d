#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_count_text.sh: the forms of a profile that counts, as go tool pprof reads them.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

"$BUILD/test/e2e/count_sample" "$work" || fail "no profile was written"
for form in pb.gz txt bare; do
    go_pprof -raw count.$form >count.$form.raw 2>count.$form.err || fail "$form: $(cat count.$form.err)"
    # 2500 rows of each stack, row i counting i % 4 + 1.
    expect_equal "total of $form" 25000 "$(weight count.$form.raw)"
    expect_equal "type of $form" "example.conn/count" "$(sed -n '/^Samples:/ { n; p; }' count.$form.raw)"
    expect_equal "weight of leaf_function in $form" 15000 "$(weight_with count.$form.raw leaf_function)"
    expect_equal "samples in $form" "10000 7500 5000 2500" \
        "$(stacks count.$form.raw | cut -f 1 | tr '\n' ' ' | sed 's/ $//')"
done
expect_equal "weight below main" 7500 "$(weight_with count.pb.gz.raw leaf_function qsort main)"
expect_equal "weight without a stack" 10000 "$(weight_with count.pb.gz.raw 0x0)"
expect_equal "header" "example.conn profile: total 25000" "$(head -n 1 count.txt)"
grep '^[0-9]* @' count.txt >rows
grep '^[0-9]* @' count.bare >bare_rows
cmp rows bare_rows || fail "rows with and without comments differ"
expect_equal "lines of frames in the bare text" 0 "$(grep -c '^#	' count.bare)"
expect_equal "frames" "leaf_function qsort main" \
    "$(sed -n '/^5000 @/,/^$/ s/^#	0x[0-9a-f]*	\([a-z_]*\)+.*/\1/p' count.txt | tr '\n' ' ' | sed 's/ $//')"
expect_equal "row without a stack" "10000 @ 0x1|#	0x0|" "$(sed -n '/^10000 /,/^#/p' count.txt | tr '\n' '|')"
echo ok
