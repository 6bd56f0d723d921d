#!/bin/sh
# SPDX-License-Identifier: MIT
#
# page: the page of `cpprof flame` in a headless Chromium: the time
#
#   open           from the request for the file to the drawn flame graph
#   click          from a click on a frame to the picture in which it is as wide as the window
#   side_by_side   until the table is beside it, for the first time
#   merge          until a function is merged into its callers
#   zoom, pan, scroll   between two pictures while the reader goes on with it
#   search         until the share of a search is there
#
#   samples_100k   100 000 samples, a tree of more than 100 000 frames
#   samples_1m     1 000 000 samples with 24 frames, nearly all different, in 200 000 locations
#   samples_5m     5 000 000 samples, likewise, in 16 000 locations; not with BENCH=quick

set -eu

if ! command -v node >/dev/null || ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
    echo "# not installed: node, chromium"
    exit 0
fi
folder=${0%/*}
# page NAME SAMPLES LOCATIONS FRAMES
page() {
    node "$folder/page_profile.mjs" "$2" "$3" "$4" "$WORK/$1.pb.gz"
    "$PROGRAMS/../bin/cpprof" flame -o "$WORK/$1.html" "$WORK/$1.pb.gz"
    node "$folder/page.mjs" "page.$1" "$WORK/$1.html"
}

page samples_100k 100000 20000 20
page samples_1m 1000000 200000 30
[ "${BENCH-}" = quick ] || page samples_5m 5000000 16000 30
