#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_other_libc.sh: with `subprocesses` a program for another C library starts, by whichever way it is executed: its
# environment does not name the library, which its loader would refuse. Programs for the same libc have it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc readelf

cat >shows.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const char *list = getenv("LD_PRELOAD");
    const char *other = getenv("OTHER");
    return printf("%s %s\n", list != NULL ? list : "none", other != NULL ? other : "none") < 0;
}
C
cat >ways.c <<'C'
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static int execute(const char *way, char **argv)
{
    if (strcmp(way, "execvp") == 0) return execvp(argv[0], argv);
    if (strcmp(way, "execl") == 0) return execl(argv[0], argv[0], (char *)NULL);
    if (strcmp(way, "fexecve") == 0) return fexecve(open(argv[0], O_RDONLY), argv, environ);
    return execve(argv[0], argv, environ);
}
int main(int argc, char **argv)
{
    int status = 1;
    pid_t child = -1;
    if (argc < 3) return 2;
    const char *way = argv[1];
    argv += 2;
    if (strcmp(way, "vfork") == 0) {
        child = vfork();
        if (child == 0) _exit(execve(argv[0], argv, environ));
    } else if (strcmp(way, "fork") == 0) {
        child = fork();
        if (child == 0) _exit(execve(argv[0], argv, environ));
    } else if (strcmp(way, "spawn") == 0) {
        if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ) != 0) return 3;
    } else if (strcmp(way, "spawnp") == 0) {
        if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) != 0) return 3;
    } else {
        return execute(way, argv);
    }
    return waitpid(child, &status, 0) == child ? status : 4;
}
C
printf 'int empty;\n' >empty.c
cc -o ways ways.c
cc -o same shows.c
cc -shared -fPIC -o empty.so empty.c

# A link to this libc's loader with the name that the other libc's has: what counts is what the program asks for.
loader=$(readelf -l same | sed -n 's/.*Requesting program interpreter: \(.*\)]/\1/p')
name=ld-musl-other.so.1
if is_musl "$library"; then
    name=ld-linux-other.so.2
fi
ln -s "$loader" $name
cc -o other shows.c -Wl,--dynamic-linker="$work/$name"
printf '#!%s/other\n' "$work" >script
chmod +x script

execute() { # WAY PROGRAM [LIST]
    env OTHER=kept LIBPPROF="cpu,subprocesses,file=$work/%p.pb.gz" LD_PRELOAD="${3:-$library}" ./ways "$1" "./$2" 2>&1
}
for way in execve execvp execl fexecve fork vfork spawn spawnp; do
    expect_equal "other, by $way" "none kept" "$(execute $way other)"
    expect_equal "same, by $way" "$library kept" "$(execute $way same)"
done
expect_equal "other, in a script" "none kept" "$(execute vfork script)"
for list in "$work/empty.so:$library" "$library:$work/empty.so"; do
    expect_equal "another library stays" "$work/empty.so kept" "$(execute vfork other "$list")"
done

# cpprof says why it has no profile of such a program.
recorded=$(status sh -c '"$1" record -o none.pb.gz ./other >out 2>err' sh "$BUILD/bin/cpprof")
expect_equal "recording it" 125 "$recorded"
expect_contains "recording it" err "record it with a cpprof that is built for"

# A real one.
if ! is_musl "$library" && command -v musl-gcc >/dev/null 2>&1 && musl-gcc -o musl shows.c 2>/dev/null && [ "$(./musl)" = "none none" ]; then
    expect_equal "musl, from a shell" "none kept" \
        "$(env OTHER=kept LIBPPROF="cpu,subprocesses,file=$work/%p.pb.gz" LD_PRELOAD="$library" sh -c './musl; exit' 2>&1)"
    "$BUILD/bin/cpprof" record -o recorded.pb.gz sh -c './musl; exit' >out 2>err || fail "record: $(cat err)"
    expect_contains "musl, recorded" out "none none"
fi
echo ok
