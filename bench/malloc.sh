#!/bin/sh
# SPDX-License-Identifier: MIT
#
# malloc: what the allocation hooks cost, beside other allocators and other profilers of the heap. The
# workloads are described in malloc.c.
#
#   off, on      glibc's allocator with libpprof: preloaded and not asked for anything; at 512 KiB
#   over_*       the same under jemalloc, which $PPROF_JEMALLOC may name
#   hooks        the same with jemalloc's profiler active, whose samples libpprof takes (5.3.1 or later, built with it)
#   ratio        the time over that of the same allocator without a profiler; the median over rounds, in
#                each of which all variants run once, every second round in reverse. Each workload is a
#                process of its own: a heap that another one has filled answers calloc differently, and
#                where code and blocks come to lie differs between processes more than within one.

set -eu

PATH=$PATH:/sbin
find_library() { ldconfig -p | sed -n "s|.*$1.* => ||p" | head -n 1; }
jemalloc=${PPROF_JEMALLOC:-$(find_library 'libjemalloc\.so\.2')}
tcmalloc=$(find_library 'libtcmalloc\.so\.4')
[ -n "$jemalloc" ] || echo "# not installed: jemalloc (libjemalloc.so.2)"
[ -n "$tcmalloc" ] || echo "# not installed: tcmalloc (libtcmalloc.so.4)"
heaptrack=$(find /usr/lib /usr/local/lib -name libheaptrack_preload.so 2>/dev/null | head -n 1)
[ -n "$heaptrack" ] || echo "# not installed: heaptrack (libheaptrack_preload.so)"

case $BENCH in
quick) rounds=5 big_rounds=3 ;;
*) rounds=61 big_rounds=15 ;;
esac

# run_variant WORKLOAD NAME VARIABLE=VALUE...: appends "NAME WORKLOAD NANOSECONDS".
run_variant() {
    workload=$1
    variant=$2
    shift 2
    env "$@" "$PROGRAMS/malloc" "$workload" 2>>"$WORK/malloc.errors" | sed "s/^/$variant /" \
        >>"$WORK/malloc.times"
}

variants="glibc.bare glibc.off glibc.on"
[ -z "$jemalloc" ] || variants="$variants jemalloc.bare jemalloc.own jemalloc.off jemalloc.on"
# The name of a variable: what has it has such hooks.
! grep -qs prof_sample_free "$jemalloc" || variants="$variants jemalloc.hooks"
[ -z "$tcmalloc" ] || variants="$variants tcmalloc.bare tcmalloc.own"

variant_environment() {
    on="LIBPPROF=heap,file=$WORK/malloc.pb.gz"
    case $1 in
    glibc.bare) echo "NONE=" ;;
    glibc.off) echo "LD_PRELOAD=$LIBRARY" ;;
    glibc.on) echo "LD_PRELOAD=$LIBRARY $on" ;;
    jemalloc.bare) echo "LD_PRELOAD=$jemalloc" ;;
    jemalloc.own) echo "LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:19" ;;
    jemalloc.off) echo "LD_PRELOAD=$LIBRARY:$jemalloc" ;;
    jemalloc.on) echo "LD_PRELOAD=$LIBRARY:$jemalloc $on" ;;
    jemalloc.hooks) echo "LD_PRELOAD=$LIBRARY:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:19 $on" ;;
    tcmalloc.bare) echo "LD_PRELOAD=$tcmalloc" ;;
    tcmalloc.own) echo "LD_PRELOAD=$tcmalloc TCMALLOC_SAMPLE_PARAMETER=524288" ;;
    esac
}

# run_rounds ROUNDS WORKLOAD
run_rounds() {
    round=0
    while [ $round -lt "$1" ]; do
        order=$variants
        if [ $((round % 2)) -eq 1 ]; then
            order=$(echo "$variants" | tr ' ' '\n' | sed '1!G;h;$!d' | tr '\n' ' ')
        fi
        for variant in $order; do
            # shellcheck disable=SC2046 # words without blanks
            run_variant "$2" "$variant" $(variant_environment "$variant")
        done
        round=$((round + 1))
    done
}

: >"$WORK/malloc.times"
for workload in pair cxx ring two_threads; do
    run_rounds "$rounds" "$workload"
done
for workload in big_ring calloc realloc; do
    run_rounds "$big_rounds" "$workload"
done

# What each block costs that is sampled, and heaptrack, which takes every one: a few runs are enough.
for _ in 1 2 3; do
    run_variant sampled glibc.bare NONE=
    run_variant sampled glibc.every "LD_PRELOAD=$LIBRARY" "LIBPPROF=heap:1,file=$WORK/malloc.pb.gz"
    if [ -n "$heaptrack" ]; then
        run_variant pair heaptrack.own "LD_PRELOAD=$heaptrack" "DUMP_HEAPTRACK_OUTPUT=/dev/null"
        run_variant ring heaptrack.own "LD_PRELOAD=$heaptrack" "DUMP_HEAPTRACK_OUTPUT=/dev/null"
    fi
done

# shellcheck disable=SC2016 # awk's $
awk "$(cat "$(dirname "$0")/statistics.awk")"'
    # Median of the ratios of a variant to another, round by round; the middle half beside it.
    function ratio(name, who, variant, base, workload,    i, n, list) {
        n = count[variant, workload]
        if (n == 0 || count[base, workload] < n) return
        for (i = 1; i <= n; i++) list[i] = time[variant, workload, i] / time[base, workload, i]
        printf "malloc.%s_%s.%s %.3f x", workload, name, who, median(list, n)
        printf " # %.3f .. %.3f\n", list[int(n / 4) + 1], list[n - int(n / 4)]
    }
    function ns(who, variant, workload,    i, n, list) {
        n = count[variant, workload]
        if (n == 0) return
        for (i = 1; i <= n; i++) list[i] = time[variant, workload, i]
        printf "malloc.%s_ns.%s %.2f ns\n", workload, who, median(list, n)
    }
    {
        n = ++count[$1, $2]
        time[$1, $2, n] = $3
        if (!($2 in seen)) { seen[$2]; order[++workloads] = $2 }
    }
    END {
        for (w = 1; w <= workloads; w++) {
            name = order[w]
            if (name == "sampled") continue
            ratio("off", "pprof", "glibc.off", "glibc.bare", name)
            ratio("on", "pprof", "glibc.on", "glibc.bare", name)
            ratio("on", "jemalloc", "jemalloc.own", "jemalloc.bare", name)
            ratio("on", "tcmalloc", "tcmalloc.own", "tcmalloc.bare", name)
            ratio("under_jemalloc_off", "pprof", "jemalloc.off", "jemalloc.bare", name)
            ratio("under_jemalloc_on", "pprof", "jemalloc.on", "jemalloc.bare", name)
            ratio("under_jemalloc_on", "jemalloc", "jemalloc.own", "jemalloc.bare", name)
            ratio("under_jemalloc_hooks", "pprof", "jemalloc.hooks", "jemalloc.bare", name)
            ratio("under_jemalloc_hooks_over_own", "pprof", "jemalloc.hooks", "jemalloc.own", name)
            ns("glibc", "glibc.bare", name)
            ns("pprof", "glibc.on", name)
            ns("jemalloc", "jemalloc.own", name)
            ns("tcmalloc", "tcmalloc.own", name)
            ns("heaptrack", "heaptrack.own", name)
        }
        n = count["glibc.every", "sampled"]
        for (i = 1; i <= n; i++)
            list[i] = time["glibc.every", "sampled", i] - time["glibc.bare", "sampled", i]
        if (n > 0) printf "malloc.sampled_20_frames.pprof %.0f ns\n", median(list, n)
    }' "$WORK/malloc.times"
