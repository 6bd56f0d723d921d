#!/bin/sh
# SPDX-License-Identifier: MIT
#
# glib.sh: GLib's own tests, as the distribution builds and packages them (libglib2.0-tests), on the library that is
# installed. A unit is a program.
: "${here:?run by test/distribution/run}"
OPTIONS=${OPTIONS:-cpu:1000,heap,block,mutex,thread,fd,subprocesses,file=/dev/null}
# shellcheck source=test/distribution/both_ways.sh
. "$here/both_ways.sh"
# shellcheck source=test/distribution/suite_compare.sh
. "$here/suite_compare.sh"

debian_package libglib2.0-tests
tests=$WORK/root/usr/libexec/installed-tests/glib
demote

# Each has a description that says how it is started: "Exec=/usr/libexec/installed-tests/glib/NAME --tap", or by sh -c
# with variables before it.
units() { (cd "$WORK/root/usr/share/installed-tests/glib" && ls ./*.test) | sed -e 's,^\./,,' -e 's,\.test$,,'; }

run_unit() {
    mkdir -m 700 cache
    [ -z "$user" ] || chown 65534:65534 cache
    command=$(sed -n "s,^Exec=,,p" "$WORK/root/usr/share/installed-tests/glib/$2.test" |
        sed "s,/usr/libexec/installed-tests/glib,$tests,g")
    with "$1" env G_TEST_SRCDIR="$tests" G_TEST_BUILDDIR="$tests" XDG_RUNTIME_DIR="$PWD/cache" XDG_CACHE_HOME="$PWD/cache" \
        TMPDIR="$PWD/cache" HOME="$PWD/cache" sh -c "$command"
}

# "ok 3 /path", "not ok 3 /path - why", "ok 4 /path # SKIP why". Some names have a random seed in them.
outcomes() {
    sed -n -e 's/ *# .*//; s/seed:[0-9]*/seed/' -e 's/^ *ok [0-9]* \(.*\)/ok \1/p' -e 's/^ *not ok [0-9]* \([^ ]*\).*/failed \1/p'
}

compare_suite
