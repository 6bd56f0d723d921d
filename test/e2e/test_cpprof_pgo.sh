#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_cpprof_pgo.sh: `cpprof convert -o FILE.afdo-text` writes which lines run how often, relative to their functions, also those of
# inlined functions, and what they call; clang takes it; it is refused where the program is another build, nothing that was sampled has
# debug information, or the profile is of something else; it says which samples are left out.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/pgo.sh
. "$SRC/test/e2e/pgo.sh"
need cc nm objcopy strip
cpprof=$BUILD/bin/cpprof

write_program

build() { # FLAGS...
    cc -O2 "$@" -o program program.c || fail "cc $*"
}

# refuses WHAT TEXT: the profile is not converted, and the complaint has the text.
refuses() {
    status=0
    "$cpprof" convert -o refused.afdo-text prof.pb.gz 2>err || status=$?
    expect_equal "$1: exit status" 1 "$status"
    expect_contains "$1" err "$2"
    expect_no_file refused.afdo-text
}

build -g
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record"
"$cpprof" convert -o prof.afdo-text prof.pb.gz 2>err || fail "convert: $(cat err)"
grep -Eq '^often:[1-9][0-9]*:[0-9]+$' prof.afdo-text || fail "no often(): $(cat prof.afdo-text)"

# What runs in the loop: line 4 of often(), into which line 2 of step() is inlined, and the lines after it.
most=$(awk -F ': ' '/^often:/ { inside = 1; next } /^[^ ]/ { inside = 0 }
                    inside && $2 ~ /^[0-9]+( |$)/ && $2 + 0 > most { most = $2 + 0; place = $1 } END { print place + 0 }' prof.afdo-text)
case $most in
2 | 3 | 4 | 5 | 6) ;;
*) fail "the line that runs most often is $most: $(cat prof.afdo-text)" ;;
esac
grep -Eq '^ 4(\.[0-9]+)?: step:[1-9][0-9]*$' prof.afdo-text || fail "no inlined step(): $(cat prof.afdo-text)"
grep -Eq '^  2(\.[0-9]+)?: [1-9][0-9]*$' prof.afdo-text || fail "no line of step(): $(cat prof.afdo-text)"

# What is called through a pointer: the stacks have it.
grep -Eq '^ 6(\.[0-9]+)?: [1-9][0-9]* twist:[1-9][0-9]*$' prof.afdo-text || fail "no call of twist(): $(cat prof.afdo-text)"

# clang numbers the file of a unit 0 when it is named as the compiler was given it.
if command -v clang >/dev/null; then
    clang -O2 -g -fdebug-info-for-profiling -o program program.c || fail "clang"
    "$cpprof" record -e cpu --no-subprocesses -o clang.pb.gz -- ./program >/dev/null 2>&1 || fail "record clang's"
    "$cpprof" convert -o clang.afdo-text clang.pb.gz 2>err || fail "convert clang's: $(cat err)"
    grep -q '^often:' clang.afdo-text || fail "no often() of clang's: $(cat clang.afdo-text)"
    clang -O2 -g -fprofile-sample-use=clang.afdo-text -S -emit-llvm -o program.ll program.c 2>err || fail "clang: $(cat err)"
    grep -q 'function_entry_count' program.ll || fail "clang takes nothing from the profile"

    # Calls through a pointer in tail position, on two ways that end alike: the profiled build has both, as calls with lines.
    cat >tail.c <<'EOF'
struct methods { unsigned (*turn)(unsigned); };

__attribute__((noinline)) static unsigned turn(unsigned x)
{
    for (int i = 0; i < 8; i++) {
        x = x * 31 + 7;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static const struct methods only = {turn};
static const struct methods *volatile methods = &only;

__attribute__((noinline)) static unsigned by_pointer(unsigned x)
{
    if (x & 64) {
        return methods->turn(x + 1);
    }
    return methods->turn(x ^ 5);
}

int main(void)
{
    unsigned x = 1;
    for (unsigned i = 0; i < 50000000; i++) {
        x = by_pointer(x);
    }
    return x == 1;
}
EOF
    clang -O2 -g -fdebug-info-for-profiling -fno-optimize-sibling-calls -mllvm -sink-common-insts=0 -mllvm -hoist-common-insts=0 \
        -mllvm -enable-tail-merge=0 -o tail tail.c || fail "clang tail.c"
    "$cpprof" record -e cpu --no-subprocesses -o tail.pb.gz -- ./tail >/dev/null 2>&1 || fail "record ./tail"
    "$cpprof" convert -o tail.afdo-text tail.pb.gz 2>err || fail "convert ./tail: $(cat err)"
    clang -O2 -g -fprofile-sample-use=tail.afdo-text -mllvm -sample-profile-use-profi -Rpass=pgo-icall-prom -c tail.c 2>err || fail "clang tail.c: $(cat err)"
    grep -q 'Promote indirect call to turn ' err || fail "the call of turn() stays indirect: $(cat err tail.afdo-text)"

    # Of two functions of one name, the one at the lower address is entered often.
    cat >first.c <<'EOF'
__attribute__((noinline)) static unsigned work(unsigned x)
{
    for (int i = 0; i < 3; i++) {
        x = x * 31 + 7;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

unsigned other(unsigned n);

int main(void)
{
    unsigned x = 1;
    for (unsigned i = 0; i < 50000000; i++) {
        x = work(x);
        __asm__ volatile("" : "+r"(x));
    }
    return x + other(30000000) == 1;
}
EOF
    cat >second.c <<'EOF'
__attribute__((noinline)) static unsigned work(unsigned n)
{
    unsigned x = n;
    for (unsigned i = 0; i < n; i++) {
        x = x * 31 + 7;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

unsigned other(unsigned n)
{
    return work(n) + work(n + 1);
}
EOF
    clang -O2 -g -fdebug-info-for-profiling -o namesakes first.c second.c || fail "clang first.c second.c"
    "$cpprof" record -e cpu --no-subprocesses -o namesakes.pb.gz -- ./namesakes >/dev/null 2>&1 || fail "record ./namesakes"
    "$cpprof" convert -o namesakes.afdo-text namesakes.pb.gz 2>err || fail "convert ./namesakes: $(cat err)"
    entries=$(sed -n 's/^work:[0-9]*:\([0-9]*\)$/\1/p' namesakes.afdo-text)
    [ "${entries:-0}" -ge 100000 ] || fail "work() is entered ${entries:-0} times: $(cat namesakes.afdo-text)"
    build -g
fi

# Another process has the program at other addresses: its samples are added up with the first one's.
"$cpprof" record -e cpu --no-subprocesses -o again.pb.gz -- ./program >/dev/null 2>&1 || fail "record again"
"$cpprof" merge -o two.pb.gz prof.pb.gz again.pb.gz && "$cpprof" convert -o two.afdo-text two.pb.gz 2>err || fail "two: $(cat err)"
expect_equal "often() in two profiles" 1 "$(grep -c '^often:' two.afdo-text)"
expect_equal "the most frequent place of two profiles" 1000000 \
    "$(sed -n 's/^ [^:]*: \([0-9]*\)\( .*\)*$/\1/p' two.afdo-text | sort -n | tail -n 1)"

# A program without debug information, and a few samples in a file that has it.
cc -O2 -o bare program.c || fail "cc bare"
"$cpprof" record -e cpu --no-subprocesses -o bare.pb.gz -- ./bare >/dev/null 2>&1 || fail "record ./bare"
"$cpprof" merge -o tenfold.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz bare.pb.gz &&
    "$cpprof" merge -o some.pb.gz again.pb.gz tenfold.pb.gz || fail "merge"
"$cpprof" convert -o some.afdo-text some.pb.gz 2>err || fail "most samples without debug information: $(cat err)"
expect_contains "most samples without debug information" err "/bare: it has no debug information"
cp prof.pb.gz kept.pb.gz
for _ in 1 2 3; do
    "$cpprof" merge -o hundredfold.pb.gz tenfold.pb.gz tenfold.pb.gz tenfold.pb.gz tenfold.pb.gz tenfold.pb.gz &&
        mv hundredfold.pb.gz tenfold.pb.gz || fail "merge"
done
"$cpprof" merge -o prof.pb.gz again.pb.gz tenfold.pb.gz || fail "merge"
refuses "few samples with debug information" "/bare, which has 100 % of the samples: it has no debug information"
mv kept.pb.gz prof.pb.gz

build -g -DOTHER=1 -fno-inline
refuses "another build" "another build"

# So many samples that those of the loader, which may have debug information, are less than 1 % of them.
often="-F 2000 --engine perf"
{ cc -O2 -g -gsplit-dwarf -c program.c && cc -o program program.o; } || fail "cc -gsplit-dwarf"
# shellcheck disable=SC2086 # words
"$cpprof" record $often --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record with split debug information"
"$cpprof" convert -o split.afdo-text prof.pb.gz 2>err || fail "split debug information: $(cat err)"
grep -q '^often:' split.afdo-text || fail "no often() by split debug information: $(cat split.afdo-text)"
rm program.dwo
refuses "no .dwo file" "of the samples: a .dwo file with its debug information is not here"

build -g -DOTHER=1 -fno-inline
objcopy --only-keep-debug program program.debug
build -g
{ objcopy --add-gnu-debuglink=program.debug program && strip -g program; } || fail "separate debug information"
# shellcheck disable=SC2086 # words
"$cpprof" record $often --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record with separate debug information"
refuses "debug information of another build" "of the samples: its separate debug information (.gnu_debuglink) is of another build"
"$cpprof" list often prof.pb.gz >/dev/null 2>err || :
expect_contains "list, with debug information of another build" err "no lines of program: the separate debug information (.gnu_debuglink) is of another build"
rm program.debug

# Nothing tells whether a file without a build id is the one that was profiled.
build -g -Wl,--build-id=none
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record without a build id"
refuses "no build id" "/program, which has "
expect_contains "no build id" err "of the samples: the profile has no build id of it (link it with -Wl,--build-id)"

build
# shellcheck disable=SC2086 # words
"$cpprof" record $often --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record"
refuses "no debug information" "no debug information (compile it with -g)"
mv program gone
refuses "no program" "of the samples: the file is not here"
mv gone program

# The part that runs has no lines; its caller, which is on the stacks, has.
cat >hot.c <<'EOF'
long hot(long n)
{
    long sum = 0;
    for (volatile long i = 0; i < n; i++) {
        sum += i;
    }
    return sum;
}
EOF
cat >caller.c <<'EOF'
long hot(long n);
int main(void)
{
    return hot(800000000) == 1;
}
EOF
{ cc -O2 -c hot.c && cc -O2 -g -o program caller.c hot.o; } || fail "cc caller.c"
# shellcheck disable=SC2086 # words
"$cpprof" record $often --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record"
refuses "no lines of the part that runs" "of the samples: its debug information has no lines"

# Most of the samples are in a library without debug information.
cat >part.c <<'EOF'
long hot(long n);
int main(void)
{
    volatile long sum = 0;
    for (long i = 0; i < OWN; i++) {
        sum += i;
    }
    return hot(HOT) == 1;
}
EOF
{ cc -O2 -shared -fPIC -o libhot.so hot.c && cc -O2 -g -DOWN=150000000 -DHOT=800000000 -o program part.c -L. -lhot -Wl,-rpath,"$PWD"; } || fail "cc part.c"
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record with a library"
"$cpprof" convert -o part.afdo-text prof.pb.gz 2>err || fail "convert with a library: $(cat err)"
grep -Eq '^cpprof: [0-9]+ % of the samples are left out, [0-9]+ % in .*/libhot.so: it has no debug information' err || fail "libhot.so: $(cat err)"
grep -Eq '^main:[1-9]' part.afdo-text || fail "no main() beside a library: $(cat part.afdo-text)"
! grep -q '^hot:' part.afdo-text || fail "hot() has no lines: $(cat part.afdo-text)"
{ cc -O2 -g -Wl,--build-id=none -shared -fPIC -o libhot.so hot.c && cc -O2 -g -DOWN=1000000000 -DHOT=40000000 -o few part.c -L. -lhot -Wl,-rpath,"$PWD"; } ||
    fail "cc, without a build id"
"$cpprof" record -e cpu --no-subprocesses -o few.pb.gz -- ./few >/dev/null 2>&1 || fail "record with few samples in a library"
"$cpprof" convert -o few.afdo-text few.pb.gz 2>err || fail "a library without a build id: $(cat err)"
expect_contains "a library without a build id" err "/libhot.so: the profile has no build id of it"
grep -Eq '^main:[1-9]' few.afdo-text || fail "no main() beside a library without a build id: $(cat few.afdo-text)"
! grep -q '^hot:' few.afdo-text || fail "hot() is of an unknown build: $(cat few.afdo-text)"
cc -O2 -shared -fPIC -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -o libhot.so hot.c || fail "cc, with another build id"
refuses "another build of the library with most of the samples" "of the samples: the file is of another build"

# A function without a size is not what is called in the next section.
build_nameless -g
"$cpprof" record -e cpu --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record nameless()"
"$cpprof" convert -o prof.afdo-text prof.pb.gz 2>err || fail "convert nameless(): $(cat err)"
grep -Eq '^main:[1-9]' prof.afdo-text || fail "no main() before nameless(): $(cat prof.afdo-text)"
! grep -q sizeless prof.afdo-text || fail "sizeless() has nameless()'s calls: $(cat prof.afdo-text)"

"$cpprof" record -e heap --no-subprocesses -o prof.pb.gz -- ./program >/dev/null 2>&1 || fail "record -e heap"
refuses "a heap profile" "expected a CPU profile, found one of space"
