#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
#
# test_readme.sh: what README.md tells a reader to type works word by word, on a system where the library was installed as
# it says: each command, and each piece of C in a program of its own.
#
# Not typed: what installs packages, what builds (the tests have been built in that way), and ./demo.sh, which does both.
# The system is this one, in a namespace where /usr/local and the loader's cache are copies that are thrown away.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cmake cc c++ xz go timeout unshare pkg-config
as_root "to make a mount namespace"

readme=$SRC/README.md
commands="$work/commands"
# Indented lines; a comment begins after two blanks. Lines of a CMakeLists.txt are indented too.
sed -n 's/^    \([^ ].*\)$/\1/p' "$readme" | sed 's/  *#[^"]*$//' >all
grep -v '^\./demo\.sh\|^apt-get \|^cmake --preset\|^find_package\|^target_link' all >"$commands" || true
grep '^find_package\|^target_link' all >cmake.lines
expect_at_least "commands in README.md" 12 "$(wc -l <"$commands")"

# ---- pieces of C ----

# The N-th piece stands in pieces/N.c or .cc, its includes first, the rest in a function that has what it speaks of.
mkdir pieces
awk '
    /^```cp*$/ { name = sprintf("pieces/%d.%s", ++n, $0 == "```c" ? "c" : "cc"); inside = 1; head = body = ""; next }
    /^```$/ && inside {
        inside = 0
        printf "%s#include \"around.h\"\nint main(int argc, char **argv)\n{\n    TAKE(argc, argv);\n%s    return END;\n}\n",
            head, body >name
        close(name)
    }
    inside { if (/^#include/) head = head $0 "\n"; else body = body "    " $0 "\n" }' "$readme"
cat >pieces/around.h <<'C'
#include <pprof.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned long turns;
static inline void work(void) { for (turns = 0; turns < 300000000; turns++) {} }
static inline void serve_request(void *request) { (void)request; work(); }
static char place[64];
static void *request = place, *object = place, *connection = place;
static size_t size = sizeof place;
static const char *tenant = "acme";
#ifndef HAS_FD
static int fd = 2;
#endif
#define TAKE(argc, argv) (void)(argc), (void)(argv), (void)request, (void)object, (void)connection, (void)size, (void)tenant
#ifdef HAS_ERROR
#define END error
#else
#define END 0
#endif
C
expect_at_least "pieces of C in README.md" 7 "$(find pieces -name '*.c' | wc -l)"

# build_and_run SOURCE: the program; profiles that it writes to a descriptor go to FILE.pb.gz.
cat >build_and_run <<'SH'
set -eu
source=$1
flags=
! grep -q 'int fd = ' "$source" || flags="$flags -DHAS_FD"
! grep -q 'int error = ' "$source" || flags="$flags -DHAS_ERROR"
grep -q 'fd' "$source" || flags="$flags -DHAS_FD"
compiler=cc
case $source in *.cc) compiler=c++ ;; esac
# shellcheck disable=SC2086 # words
$compiler -Wall -Wextra -Werror -Wno-unused-variable -Wno-unused-function -O1 -g $flags "$source" -o "${source%.*}" -lpprof
(cd pieces && "../${source%.*}" >/dev/null 2>"../$source.err.gz")
SH

# ---- on a system where it is installed ----

cat >typed <<'SH'
set -eu
mount --make-rprivate /
for folder in bin lib include share; do
    mkdir -p "/usr/local/$folder"
    mount -t tmpfs none "/usr/local/$folder"
done
cp -a /etc "$WORK/etc"
mount --bind "$WORK/etc" /etc
cd "$WORK"

# The commands that other commands need come first, as their files do.
PATH=/usr/local/bin:$PATH
status=0
grep '^cmake --install' commands >install
sed 's|build/release|'"$BUILD"'|' install | sh -e >install.out 2>&1 || { cat install.out; exit 1; }
ldconfig

for piece in pieces/[0-9]*.c pieces/[0-9]*.cc; do
    sh -e build_and_run "$piece" || { echo "FAIL: piece $piece of README.md"; cat "$piece"; exit 1; }
done
cp pieces/cpu.pb.gz cpu.pb.gz
# The heap of the program that writes nothing else, and labels as the piece with pprof_do has them.
heap=$(grep -l pprof_write_heap_profile pieces/*.c)
cp "$heap.err.gz" heap.pb.gz
labelled=$(grep -l pprof_do pieces/*.c)
LIBPPROF=cpu:1000,file=cpu.pb.gz "./${labelled%.c}"
cp "${labelled%.c}" prog
cp "$labelled" prog.c
cp pieces/around.h .
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(readme C)
add_executable(prog prog.c)
CMAKE
cat cmake.lines >>CMakeLists.txt
cmake -B consumer . >cmake.out 2>&1 && cmake --build consumer >>cmake.out 2>&1 ||
    { echo "FAIL: README.md's lines for CMake"; cat cmake.out; exit 1; }

while read -r command; do
    case $command in
    'cmake --install'*) continue ;;
    esac
    rm -f big.tar.xz
    [ -f big.tar ] || head -c 3000000 /dev/urandom >big.tar
    # What starts a server is ended once it has had its time.
    limit=
    case $command in
    *-http=:*) limit="timeout 5 env BROWSER=none" ;;
    esac
    result=0
    $limit sh -c "$command" </dev/null >said 2>&1 || result=$?
    [ -z "$limit" ] || [ "$result" -ne 124 ] || result=0
    if [ "$result" -ne 0 ]; then
        echo "FAIL: '$command' of README.md: status $result: $(cat said)"
        status=1
    else
        echo "typed: $command"
    fi
    case $command in
    *top*) grep -q '%' said || { echo "FAIL: '$command' shows no share: $(cat said)"; status=1; } ;;
    *-tags*) grep -q acme said || { echo "FAIL: '$command' shows no label: $(cat said)"; status=1; } ;;
    *-list*) grep -q 'ROUTINE.*main' said || { echo "FAIL: '$command' lists nothing: $(cat said)"; status=1; } ;;
    esac
done <commands
rm -f /tmp/prof.pb.gz
exit $status
SH
export WORK="$work"
export GOFLAGS=-mod=mod HOME="$work"
unshare --mount true 2>/dev/null || skip "mount namespaces cannot be made here"
unshare --mount sh -e typed >typed.out 2>&1 || fail "$(cat typed.out)"
grep -c '^typed: ' typed.out | sed 's/^/commands: /'
echo ok
