#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tasks: ns that a switch between two tasks of a runtime takes more when the library is told, with labels, and with the block
# profile; to begin and end one; ms of a profile of a hundred thousand that wait.

set -eu

"$PROGRAMS/tasks"
