#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_http_deltas.sh: what changes while a request lasts (`seconds`), and between two (delta_NAME); `rate` turns a profile
# on for that time and leaves it as it was.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/http.sh
. "$SRC/test/e2e/http.sh"
need go python3

sum() { # RAW COLUMN
    awk -v column="$2" '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
        on && /^ *-?[0-9]+( +-?[0-9]+)*:/ { sub(/:.*/, ""); total += $column } END { printf "%d\n", total }' "$1"
}
has_duration() { grep -q '^Duration: [1-9]' "$1"; }
rate_on_index() { python3 "$ask" "$url/" | grep -c "href='./$1?debug=1'.*<td>off"; }

serve_guest ''
expect_equal "heap, block and mutex are off at first" "1 1 1" \
    "$(rate_on_index heap) $(rate_on_index block) $(rate_on_index mutex)"

# Off: nothing changes. On for the time of the request: something does, and it is off again.
get off.pb.gz '/block?seconds=1'
raw off.pb.gz
expect_equal "waits while the profile is off" 0 "$(sum off.pb.gz.raw 1)"
for name in block mutex heap; do
    get "$name.pb.gz" "/$name?seconds=1&rate=1"
    raw "$name.pb.gz"
    [ "$(sum "$name.pb.gz.raw" 1)" -gt 0 ] || fail "$name with rate=1: nothing was recorded"
    has_duration "$name.pb.gz.raw" || fail "$name with seconds=1 has no duration"
    expect_equal "$name is off after the request" 1 "$(rate_on_index "$name")"
done
[ "$(weight_with mutex.pb.gz.raw hold_lock contender)" -gt 0 ] || fail "hold_lock is not in: $(cat mutex.pb.gz.raw)"
! grep -q waiting block.pb.gz.raw || fail "a difference has waits that go on"

# Two requests at a time: the rate is back after the last one.
python3 "$ask" "$url/mutex?seconds=3&rate=1" -o long.pb.gz >/dev/null 9>&- &
long=$!
python3 "$ask" "$url/mutex?seconds=1&rate=1" -o short.pb.gz >/dev/null
wait "$long"
expect_equal "mutex is off after both" 1 "$(rate_on_index mutex)"
raw long.pb.gz
raw short.pb.gz
[ "$(sum short.pb.gz.raw 1)" -gt 0 ] || fail "the shorter request has nothing"
[ "$(sum long.pb.gz.raw 1)" -gt 0 ] || fail "the longer request has nothing"

# Bad requests.
for bad in 'block?seconds=1&rate=0' 'block?seconds=1&rate=-5' 'thread?seconds=1&rate=1' 'heap?seconds=1&debug=1'; do
    expect_equal "status of $bad" 400 "$(status_of "/$bad")"
done
end_guest

# From request to request: the first has everything, the sum of all is what there is.
serve_guest heap:1,block
get whole.pb.gz /allocs
get first.pb.gz /delta_allocs
get second.pb.gz /delta_allocs
get after.pb.gz /allocs
for file in whole first second after; do
    raw "$file.pb.gz"
done
both=$(($(sum first.pb.gz.raw 1) + $(sum second.pb.gz.raw 1)))
[ "$(sum whole.pb.gz.raw 1)" -le "$(sum first.pb.gz.raw 1)" ] || fail "the first delta lacks something"
[ "$both" -le "$(sum after.pb.gz.raw 1)" ] || fail "the deltas have $both blocks, all are $(sum after.pb.gz.raw 1)"
has_duration second.pb.gz.raw || fail "the second delta has no duration"
for name in delta_heap delta_block delta_mutex; do
    expect_equal "status of $name" 200 "$(status_of "/$name")"
done
for name in delta_thread delta_ delta_nope delta_profile; do
    expect_equal "status of $name" 404 "$(status_of "/$name")"
done
end_guest
echo ok
