#!/bin/sh
# SPDX-License-Identifier: MIT
#
# perl.sh: Perl's own tests, from the distribution's source package and on a perl that is built of it: those of the
# language, of its library and of its modules. A unit is a file of tests.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

debian_source perl
source=$WORK/perl
[ -x "$source/t/perl" ] || (
    echo "building in $source"
    cd "$source"
    sh ./Configure -des -Dusethreads -Doptimize=-O1 && make -j "$(nproc)" test_prep
) >"$WORK/build.log" 2>&1 || {
    tail -n 20 "$WORK/build.log" >&2
    exit 1
}

# Left out: t/porting and lib/perlbug.t look at the sources, and at how perl is packaged.
units() {
    (
        cd "$source/t"
        ls base/*.t comp/*.t cmd/*.t run/*.t io/*.t re/*.t opbasic/*.t op/*.t op/hook/*.t uni/*.t mro/*.t lib/*.t \
            class/*.t 2>/dev/null
        find ../lib ../ext ../dist ../cpan -name '*.t' ! -path '*/perlbug.t' | sort
    )
}

# TEST starts the file as it wants to be started, and prints what it prints. Tests write into perl's own folder.
run_unit() {
    cd "$source/t"
    with "$1" ./perl TEST -v "$2"
}

# "ok 3 - name", "not ok 4 - name # TODO why", within a line that begins with the file's name
outcomes() {
    awk '
        { sub(/^.*\.\. */, "") }
        $1 == "ok" && $2 ~ /^[0-9]+$/ { print "ok " $2; next }
        $1 == "not" && $2 == "ok" && $3 ~ /^[0-9]+$/ { print (/# *TODO/ ? "ok " : "failed ") $3 }' |
        sed "s,\$, of $1,"
}

compare_suite
