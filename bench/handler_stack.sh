#!/bin/sh
# SPDX-License-Identifier: MIT
#
# handler_stack: bytes of stack that the handler of samples writes to beyond the kernel's frame, by what it
# meets on the stack that it walks.

set -eu

"$PROGRAMS/handler_stack"
