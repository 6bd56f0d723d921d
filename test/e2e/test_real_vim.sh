#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_real_vim.sh: an editor that has a handler for every fatal signal.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go vim
vim -es -u NONE -c 'qa!' </dev/null >/dev/null 2>&1 || skip "vim has no ex mode"
same_as_without vim 50 vim -es -u NONE -c 'for i in range(60000) | let x = i * 2 | endfor' -c 'qa!'
echo ok
