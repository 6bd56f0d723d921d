# SPDX-License-Identifier: MIT
#
# statistics.awk: what benches compute of lists of numbers; put before their own awk programs.

# Sorts list[1..count].
function sort(list, count,    i, k, x) {
    for (i = 2; i <= count; i++) {
        x = list[i]
        for (k = i - 1; k >= 1 && list[k] > x; k--) list[k + 1] = list[k]
        list[k + 1] = x
    }
}

# Sorts, too.
function median(list, count) {
    sort(list, count)
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}
