#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_browser.sh: the page in Chromium, with clicks and keys: test/page/*.browser.mjs. CHROMIUM=PATH names another
# Chromium than the one of the distribution.
# timeout: 600
# nightly: 1
. "$SRC/test/e2e/lib.sh"

need node
command -v "${CHROMIUM:-chromium}" >/dev/null || skip "no chromium"
node --test "$SRC"/test/page/*.browser.mjs
