#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_shapes.sh: stacks without frame pointers: recursion, callbacks, alloca, signal handlers, other
# stacks, C++. Each chain of callers must be seen, from its leaf to main.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

spent() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }

chain() { # NAME-IN-REPORT FUNCTION...
    chain_name=$1
    shift
    expect_share "$*" "$(spent "$report" "$chain_name")" "$(weight_with "$profile" "$@")"
}
check_c() {
    record "$work/c.pb.gz" "$victims/shapes" >c.spent || : >failed
    raw c.pb.gz
    profile=$work/c.pb.gz.raw

    report=c.spent
    chain recurse_deep shape_leaf recurse recurse recurse_deep main
    chain sort_caller shape_leaf compare_and_burn sort_caller main
    chain search_caller shape_leaf compare_and_burn search_caller main
    expect_equal "weight of compare_and_burn without qsort between it and its caller" 0 \
        "$(weight_directly "$profile" compare_and_burn sort_caller)"
    chain alloca_caller shape_leaf alloca_caller main
    chain vla_caller shape_leaf vla_caller main
    chain realigned_caller shape_leaf realigned_caller main
    chain raise_caller shape_leaf handler raise raise_caller main
    chain raise_alternate_caller shape_leaf handler raise raise_alternate_caller main
    chain memset_caller memset_caller main
    # makecontext: the coroutine's stack ends at its trampoline.
    expect_share "the coroutine" "$(spent c.spent switch_caller)" \
        "$(weight_directly "$profile" burn_ms shape_leaf coroutine)"
    expect_equal "weight of switch_caller on the coroutine's stack" 0 \
        "$(weight_with "$profile" coroutine switch_caller)"

    # 700 calls are 701 frames of recurse, each seen once.
    expect_share "stacks with 701 frames of recurse" "$(spent c.spent recurse_deep)" \
        "$(stacks "$profile" | awk -F '\t' '
            { n = 0; for (i = 2; i <= NF; i++) n += $i == "recurse"; if (n == 701) sum += $1 }
            END { print sum + 0 }')"

    # 5000 calls do not fit: the leaf-most frames are kept, and the profile says so.
    expect_share "truncated stacks" "$(spent c.spent recurse_too_deep)" \
        "$(stacks "$profile" | awk -F '\t' '
            { n = 0; for (i = 2; i <= NF; i++) n += $i == "recurse"; if (n > 900) sum += $1 }
            END { print sum + 0 }')"
    expect_equal "weight of recurse_too_deep, which was cut off" 0 \
        "$(weight_with "$profile" recurse_too_deep)"
    comments "$profile" | grep -Eq 'deeper|truncated|too deep' ||
        fail "the comments do not speak of cut stacks: $(comments "$profile")"
}

check_cxx() {
    record "$work/cxx.pb.gz" "$victims/shapes_cxx" >cxx.spent || : >failed
    raw cxx.pb.gz
    profile=$work/cxx.pb.gz.raw
    report=cxx.spent
    chain virtual_caller cxx_leaf Circle::draw virtual_caller main
    chain catch_caller catch_caller main
    chain cleanup_caller cxx_leaf WorkingDestructor::~WorkingDestructor cleanup_caller main
    chain function_caller cxx_leaf function_caller main
    chain std_sort_caller cxx_leaf std_sort_caller main
    chain initialiser cxx_leaf initialiser
    # Most of the time of an exception goes into the runtime, below the function that throws.
    thrown=$(weight_with "$profile" _Unwind_RaiseException __cxa_throw thrower thrower thrower catch_caller main)
    expect_at_least "weight of _Unwind_RaiseException below thrower" \
        "$(percent "$(spent cxx.spent catch_caller)" 5)" "$thrown"
    expect_equal "stacks that reach the program's entry" 100.00 "$(ROOTS=initialiser whole_percent "$profile")"
}

attempts 3 check_c
! has_cxx || attempts 3 check_cxx
expect_no_file failed # no attempt may end badly
echo ok
