#!/bin/sh
# SPDX-License-Identifier: MIT
#
# axe.sh: axe-core, which looks for what keeps readers with a screen reader, a keyboard or weak eyes from using a page,
# finds nothing in the page of `cpprof flame`: in each view, light and dark, wide and on a phone, with filters and names
# of 2000 characters. Not part of ./test.sh: axe-core comes from npm, which the tests do without.
#
#   npm pack axe-core && tar xf axe-core-*.tgz
#   BUILD=$PWD/build/release SRC=$PWD AXE=package/axe.min.js sh test/extra/axe.sh
#
# Needs node, Chromium (CHROMIUM names another), and axe-core, which $AXE names. Takes half a minute.
# shellcheck source=test/e2e/lib.sh
AXE=$(realpath "${AXE:-axe.min.js}" 2>/dev/null) || AXE=
. "$SRC/test/e2e/lib.sh"
[ -f "$AXE" ] || skip "no axe-core; AXE=FILE names its axe.min.js"
need node
command -v "${CHROMIUM:-chromium}" >/dev/null || skip "no chromium"
AXE=$AXE node --test "$SRC/test/extra/axe.mjs"
