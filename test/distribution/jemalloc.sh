#!/bin/sh
# SPDX-License-Identifier: MIT
#
# jemalloc.sh: jemalloc's own tests, from the distribution's source package, with every block sampled: those that
# are linked to libjemalloc.so (its functions stand behind our hooks), and its unit tests, which have a
# jemalloc of their own in them. A test's status is 0 for passed and 1 for skipped.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-heap:1,subprocesses,file=/dev/null} # the tests are executed by scripts
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"

debian_source jemalloc
source=$WORK/jemalloc
tests=$WORK/tests
rm -rf "$tests"
mkdir -p "$tests"

echo "building in $source"
(
    cd "$source"
    [ -e Makefile ] || ./configure --enable-prof --disable-doc
    make -j "$JOBS" build_lib tests_unit tests_integration
) >"$WORK/build.log" 2>&1 || {
    tail -n 20 "$WORK/build.log" >&2
    exit 1
}

# What jemalloc's own script does for each: options from a file beside the test.
for file in "$source"/test/integration/*.c "$source"/test/integration/cpp/*.cpp "$source"/test/unit/*.c; do
    program=${file%.*}
    [ -x "$program" ] || continue
    wrapper=$tests/$(echo "${program#"$source"/test/}" | tr / .)
    {
        echo '#!/bin/sh'
        echo 'export enable_fill=1 enable_prof=1 MALLOC_CONF='
        [ ! -e "$program.sh" ] || echo ". '$program.sh'"
        echo "export LD_LIBRARY_PATH='$source/lib'"
        echo "exec '$program' '$source/' '$source/'"
    } >"$wrapper"
    chmod +x "$wrapper"
done
find "$tests" -type f | sort >"$WORK/list"
both_ways "$WORK/list"
