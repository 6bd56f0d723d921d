#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_fd.sh: the fd profile: every way to open and to close, who did what, and that the calls do
# what libc's own do.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

run() { # NAME COMMAND...: in a folder of its own
    run_name=$1
    shift
    mkdir "$run_name"
    (cd "$run_name" && "$@" >../"$run_name.out" 2>../"$run_name.err") ||
        fail "$run_name: $(cat "$run_name.err")"
}

# The same without the library, with it, and with the profile.
run plain timeout -s KILL 60 "$victims/fds"
run off env LD_PRELOAD="$library" timeout -s KILL 60 "$victims/fds"
run on timeout -s KILL 60 env LD_PRELOAD="$library" LIBPPROF="fd,file=$work/fd.pb.gz" \
    "$victims/fds"
for way in off on; do
    cmp plain.out $way.out >&2 || fail "it does something else with the library ($way)"
    expect_equal "messages ($way)" "$(cat plain.err)" "$(cat $way.err)"
done

raw fd.pb.gz
expect_equal "type" "fd/count" "$(sed -n '/^Samples:/ { n; p; }' fd.pb.gz.raw)"
weight_of_leaf() { # LEAF FUNCTION
    stacks fd.pb.gz.raw | awk -F '\t' -v leaf="$1" -v name="$2" '
        $2 == leaf && index($0 "\t", "\t" name "\t") { sum += $1 } END { print sum + 0 }'
}
while read -r function leaf count; do
    [ "$function" != - ] || function=$leaf
    case $leaf in
    pprof_*) ;; # told in several lines
    *)
        expect_equal "descriptors of $function" "$count" "$(weight_with fd.pb.gz.raw "$function")"
        expect_equal "descriptors of $function by $leaf" "$count" "$(weight_of_leaf "$leaf" "$function")"
        ;;
    esac
done <on.out
for placeholder in pprof_unseen_descriptor pprof_earlier_descriptor; do
    expect_equal "$placeholder" \
        "$(awk -v name=$placeholder '$2 == name { sum += $3 } END { print sum }' on.out)" \
        "$(weight_of_leaf $placeholder $placeholder)"
done
expect_equal "descriptors in all" "$(awk '{ sum += $3 } END { print sum }' on.out)" \
    "$(weight fd.pb.gz.raw)"
echo ok
