#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_label_moments.sh: each stack of a thread profile has the labels of its own moment, and no thread or creation is
# missing (what is checked stands in linked/label_moments.c).
#
#   LABEL_PROFILES=N   profiles of each form; 9000 judge some 100 000 records
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"

"$linked/label_moments" "${LABEL_PROFILES:-60}"
echo ok
