# SPDX-License-Identifier: MIT
#
# pprof_time.awk: what a newer `go tool pprof` prints, and cpprof, with the time of the profile as older ones print it:
# "Time: 2026-11-22 14:40:13 UTC" is "Time: Nov 22, 2026 at 2:40pm (UTC)".
$1 == "Time:" && split($2, day, "-") == 3 && split($3, clock, ":") == 3 {
    split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", months, " ")
    hour = clock[1] % 12
    printf "Time: %s %d, %s at %d:%s%s (%s)\n", months[day[2] + 0], day[3], day[1], \
        hour == 0 ? 12 : hour, clock[2], clock[1] < 12 ? "am" : "pm", $4
    next
}
{ print }
