#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_logic.sh: the modules of the page (cmd/page) without a browser, and the page that `cpprof flame` writes:
# test/page/*.test.mjs.
# sanitizers: yes
. "$SRC/test/e2e/lib.sh"

need node
node --test "$SRC"/test/page/*.test.mjs
