#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cpython.sh: CPython's own tests, as the distribution packages them, on the python3 that is installed. A unit is a
# module of tests.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

python=/usr/bin/python3
version=$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
LIMIT=${CPYTHON_LIMIT:-400}
debian_package "libpython$version-testsuite"

# The package has what the standard library's folder lacks: together they are the module "test".
tests=$WORK/modules
[ -d "$tests" ] || {
    mkdir -p "$tests"
    cp -r "/usr/lib/python$version/test" "$tests/"
    cp -r "$WORK/root/usr/lib/python$version/test" "$tests/"
}
demote

units() { (cd "$tests/test" && ls -d test_*) | sed -e 's/\.py$//' -e '/^test_support$/d' | sort -u; }

run_unit() {
    with "$1" env PYTHONPATH="$tests" PYTHONDONTWRITEBYTECODE=1 TMPDIR="$PWD" \
        "$python" -u -m test -v --junit-xml "$PWD/results.xml" "$2"
}

# A failure of a class's set-up has no name of a test: it is one of the module's.
outcomes() {
    [ ! -s results.xml ] || "$python" - results.xml <<'PYTHON'
import sys
import xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).iter("testcase"):
    bad = case.find("failure") is not None or case.find("error") is not None
    print("failed" if bad else "ok", (case.get("name") or "?").split("\n")[0])
PYTHON
}

compare_suite
