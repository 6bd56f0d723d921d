#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_help.sh: the help of every verb fits a screen of 24 lines of 80 characters, has an example, and says each option
# that it lists to the parser's satisfaction; a mistyped word gets the one that was meant.
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# fits: whether out has 23 lines of at most 80 characters, so that the prompt fits, too.
fits() {
    awk 'length($0) > 80 { bad = 1 } END { exit bad || NR > 23 }' out
}

run 0 help
fits || fail "cpprof help: more than a screen: $(cat out)"
verbs=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' out)
[ "$(echo "$verbs" | wc -l)" -ge 13 ] || fail "cpprof help: expected 13 verbs, found $verbs"
[ "$(echo "$verbs" | sed -n '1,4p' | tr '\n' ' ')" = "record top flame web " ] || fail "cpprof help: the order is $verbs"
[ "$(echo "$verbs" | tail -1)" = help ] || fail "cpprof help: the last verb is no help"

# Some verbs have no row of their own.
grep -q "memory" out || fail "cpprof help: no memory"
for verb in $verbs memory; do
    run 0 help "$verb"
    fits || fail "help $verb: more than a screen: $(cat out)"
    grep -q "^usage: cpprof $verb" out || fail "help $verb: no usage: $(cat out)"
    grep -q "^Example: .*cpprof $verb" out || fail "help $verb: no example: $(cat out)"
    cp out help
    run 0 "$verb" --help
    cmp -s out help || fail "$verb --help differs from help $verb"

    run 0 help --all "$verb"
    awk 'length($0) > 80 { exit 1 }' out || fail "help --all $verb: more than 80 characters: $(cat out)"
    # Each option has a line, and the parser knows it: it then misses a value, or something after the options.
    sed -n 's/^  \(-[A-Za-z], \)*--\([a-z-]*\).*/\2/p' out >options
    for option in $(sed -n '/^  More/,$ s/ --/\n--/gp' help | grep -o '^--[a-z][a-z-]*' | grep -v '^--all$'); do
        grep -qx -- "${option#--}" options || fail "help --all $verb: no $option"
    done
    while read -r option; do
        "$cpprof" "$verb" "--$option" >out 2>err </dev/null
        ! grep -q "unknown option" err || fail "$verb --$option: $(cat err)"
    done <options
done

# ---- did you mean

refuse 2 "unknown verb 'recrod'; did you mean record?" recrod
refuse 2 "found 'falme'; did you mean flame?" help falme
refuse 2 "unknown option --foucs; did you mean --focus?" top --foucs x
refuse 2 "unknown option --diff_bse=x; did you mean --diff_base?" top --diff_bse=x
refuse 2 "--demangle: expected simple, templates, full, none or default, found 'ful'; did you mean full?" top --demangle=ful
refuse 2 "found 'heep'; did you mean heap?" record -e cpu,heep -- true
refuse 2 "found inuse_spac; did you mean inuse_space?" top --sample inuse_spac "$go/heap.pb.gz"
for words in xyzzy "top --xyzzy" "record -e xyzzy -- true" "help xyzzy" "top --style xyzzy" "top --sample xyzzy $go/heap.pb.gz"; do
    # shellcheck disable=SC2086 # words
    run 2 $words
    ! grep -q "did you mean" err || fail "$words: $(cat err)"
done

finish_tests
