#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# timeout: 600
#
# test_readme.sh: what README.md and the documents beside it tell a reader to type works word by word, on a system where the
# library was installed as README.md says: each command, and each piece of C in a program of its own.
#
# Not typed: what installs packages, what builds (the tests have been built in that way), and ./demo.sh, which does both.
# docs/TESTS_AND_BENCHMARKS.md has a test of its own.
# The system is this one, in a namespace where /usr/local and the loader's cache are copies that are thrown away.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cmake cc c++ xz go timeout unshare pkg-config
[ "$(id -u)" = 0 ] || touch "$BUILD/install_manifest.txt" # what root installs writes it, and other tests do
as_root "to make a mount namespace"

# Each document with the least number of commands, of lines for CMake and of pieces of C that it has.
cat >documents <<'LIST'
README.md 20 0 1
docs/GUIDE.md 6 2 8
docs/OPTIONS.md 1 0 0
docs/SAMPLING.md 2 0 0
docs/NAMES.md 3 0 0
docs/CONTENTION.md 2 0 0
docs/WALL.md 5 0 0
docs/LEAKS.md 2 0 0
docs/LIFETIMES.md 4 0 0
docs/MEMORY.md 3 0 0
docs/DESCRIPTORS.md 2 0 0
docs/ALLOCATORS.md 1 0 0
docs/READERS.md 2 0 0
docs/PAGE.md 5 0 0
docs/OTEL.md 1 0 0
LIST

# ---- commands ----

# Commands are lines that are indented by four blanks, outside of fences; a comment begins after two blanks. Lines of a
# CMakeLists.txt are indented too.
indented() {
    awk '/^```/ { inside = !inside } !inside && /^    [^ ]/ { print substr($0, 5) }' "$1" | sed 's/  *#[^"]*$//'
}

mkdir pieces
while read -r document commands lines pieces; do
    name=$(basename "$document" .md)
    indented "$SRC/$document" >"$name.all"
    grep -v '^\./demo\.sh\|^apt-get \|^cmake --preset\|^find_package\|^target_link' "$name.all" >"$name.commands" || true
    grep '^find_package\|^target_link' "$name.all" >"$name.cmake" || true
    expect_at_least "commands in $document" "$commands" "$(wc -l <"$name.commands")"
    expect_at_least "lines for CMake in $document" "$lines" "$(wc -l <"$name.cmake")"

    # The N-th piece of C goes into pieces/DOCUMENT.N.c or .cc, its includes first, the rest into a function that has
    # the variables that it names.
    awk -v document="$name" '
    /^```cp*$/ { name = sprintf("pieces/%s.%d.%s", document, ++n, $0 == "```c" ? "c" : "cc"); inside = 1; head = body = ""; next }
    /^```$/ && inside {
        inside = 0
        printf "%s#include \"around.h\"\nint main(int argc, char **argv)\n{\n    TAKE(argc, argv);\n%s    return END;\n}\n",
            head, body >name
        close(name)
    }
    inside { if (/^#include/) head = head $0 "\n"; else body = body "    " $0 "\n" }' "$SRC/$document"
    expect_at_least "pieces of C in $document" "$pieces" "$(find pieces -name "$name.*.c" | wc -l)"
done <documents
cat ./*.cmake >cmake.lines

# No other document has commands that nobody types.
for document in "$SRC"/docs/*.md; do
    ! grep -q "^docs/${document##*/} " documents || continue
    expect_equal "commands in ${document##*/}, which is not in the list" "" \
        "$(indented "$document" | grep -E '^(cpprof|go tool|LIBPPROF=|LD_PRELOAD=|c?cc) ' || true)"
done

# ---- links ----

for document in "$SRC"/*.md "$SRC"/docs/*.md; do
    for link in $(grep -oE '\]\([^)#:]+[)#]' "$document" | tr -d '](#)'); do
        [ -e "$(dirname "$document")/$link" ] || fail "$document has a link to $link, which is not there"
    done
done

# ---- pieces of C ----

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
grep '^cmake --install' README.commands >install
sed 's|build/release|'"$BUILD"'|' install | sh -e >install.out 2>&1 || { cat install.out; exit 1; }
ldconfig

for piece in pieces/*.c pieces/*.cc; do
    sh -e build_and_run "$piece" || { echo "FAIL: $piece, a piece of C of that document"; cat "$piece"; exit 1; }
done
cp pieces/cpu.pb.gz cpu.pb.gz
# The heap of the program that writes nothing else, and labels as the piece with pprof_do has them.
heap=$(grep -l pprof_write_heap_profile pieces/*.c)
cp "$heap.err.gz" heap.pb.gz
labelled=$(grep -l pprof_do pieces/GUIDE.*.c)
LIBPPROF=cpu:1000,file=cpu.pb.gz "./${labelled%.c}"
cp "${labelled%.c}" prog
cp "$labelled" prog.c
cp pieces/around.h .
cat >words.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct word { char *text; struct word *next; };
static struct word *words;
static struct word *find(const char *text)
{
    for (struct word *w = words; w; w = w->next)
        if (strcmp(w->text, text) == 0)
            return w;
    return NULL;
}
int main(void)
{
    char text[32];
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof text, "word%d", i * 7919 % 5003);
        if (!find(text)) {
            struct word *w = malloc(sizeof *w);
            *w = (struct word){strdup(text), words};
            words = w;
        }
    }
    return 0;
}
C
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(readme C)
add_executable(prog prog.c)
CMAKE
cat cmake.lines >>CMakeLists.txt
cmake -B consumer . >cmake.out 2>&1 && cmake --build consumer >>cmake.out 2>&1 ||
    { echo "FAIL: the lines for CMake"; cat cmake.out; exit 1; }

# type_commands DOCUMENT: in its order.
type_commands() {
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
            echo "FAIL: '$command' of $1: status $result: $(cat said)"
            status=1
        else
            echo "typed: $1: $command"
        fi
        shows=
        case $command in
        *top*) shows='%' ;;
        *-tags*) shows=acme ;;
        *-list*) shows='ROUTINE.*main' ;;
        *' list find') shows='s  *[0-9]*:.*strcmp' ;;
        *-traces*) shows='pprof_earlier_descriptor' ;;
        esac
        [ -z "$shows" ] || grep -q "$shows" said ||
            { echo "FAIL: '$command' of $1 does not show $shows: $(cat said)"; status=1; }
    done <"$(basename "$1" .md).commands"
}
while read -r document _; do
    type_commands "$document"
done <documents
rm -f /tmp/prog.block.pb.gz /tmp/prog.mutex.pb.gz /tmp/prog.fd.pb.gz
rm -f /tmp/prof.pb.gz
exit $status
SH
export WORK="$work"
export GOFLAGS=-mod=mod HOME="$work"
unshare --mount true 2>/dev/null || skip "mount namespaces cannot be made here"
unshare --mount sh -e typed >typed.out 2>&1 || fail "$(cat typed.out)"
grep -c '^typed: ' typed.out | sed 's/^/commands: /'
echo ok
