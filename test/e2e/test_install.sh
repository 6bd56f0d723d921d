#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 300
# nightly: 2
#
# test_install.sh: what `cmake --install` puts somewhere works from there: pkg-config and the CMake package find it, the list of
# what it needs is the linker's, the command finds its library, manual pages are whole and list every option; the Debian
# packages have what they should.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cmake make cc readelf

there=$work/there
cmake --install "$BUILD" --prefix "$there" >install.out 2>&1 || fail "cmake --install: $(cat install.out)"
libraries=$(dirname "$(find "$there" -name libpprof.so.0)")
[ -n "$libraries" ] || fail "no libpprof.so.0 was installed"
# Where the loader does not look, somebody has to say so.
grep -q "LD_LIBRARY_PATH=$libraries" install.out || fail "nothing was said about $libraries: $(cat install.out)"

cat >program.c <<'C'
#include <pprof.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long turns;

int main(void)
{
    int error = pprof_start_cpu_profile(pprof_writer_fd(STDOUT_FILENO));
    while (turns < 100000000)
        turns++;
    return error != 0 || pprof_stop_cpu_profile() != 0;
}
C

# ---- pkg-config ----

if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$libraries/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046 # words
    cc program.c -o by-pkg-config $(pkg-config --cflags --libs libpprof)
    LD_LIBRARY_PATH=$libraries ./by-pkg-config >by-pkg-config.pb.gz
    "$there/bin/cpprof" top by-pkg-config.pb.gz >top.txt
    expect_contains "the profile of a program that pkg-config linked" top.txt main
    # shellcheck disable=SC2046 # words
    cc program.c -o with-archive $(pkg-config --cflags libpprof) "$libraries/libpprof.a" -lz
    ./with-archive >with-archive.pb.gz
    "$there/bin/cpprof" top with-archive.pb.gz >top.txt
    expect_contains "the profile of a program with libpprof.a in it" top.txt main
fi

# The server: by pkg-config, by its archive, and loaded by the option.
cat >server.c <<'C'
#include <pprof_http.h>
#include <stdio.h>

int main(void)
{
    char address[128];
    if (pprof_http_serve("127.0.0.1:0") != 0 || pprof_http_address(address, sizeof address) != 0)
        return 1;
    puts("serves");
    return pprof_http_stop();
}
C
if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046 # words
    cc server.c -o server-by-pkg-config $(pkg-config --cflags --libs libpprof-http)
    expect_equal "a server that pkg-config linked" serves \
        "$(LD_LIBRARY_PATH=$libraries ./server-by-pkg-config 2>server.err)"
    # shellcheck disable=SC2046 # words
    cc server.c -o server-with-archive $(pkg-config --cflags libpprof-http) "$libraries/libpprof-http.a" \
        "$libraries/libpprof.a" -lz
    expect_equal "a server with libpprof-http.a in it" serves "$(./server-with-archive 2>server.err)"
fi
LIBPPROF=http=127.0.0.1:0 LD_PRELOAD=$libraries/libpprof.so.0 "$victims/ends" exit >ends.out 2>ends.err || true
expect_contains "the option http with the installed library" ends.err /debug/pprof/

# ---- CMake ----

mkdir consumer
cp program.c server.c consumer/
cat >consumer/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(libpprof 0.1 REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared libpprof::pprof)
add_executable(archive program.c)
target_link_libraries(archive libpprof::archive)
add_executable(server server.c)
target_link_libraries(server libpprof::http)
add_executable(server_archive server.c)
target_link_libraries(server_archive libpprof::http_archive)
if(TARGET libpprof::static)
  add_executable(static program.c)
  target_link_libraries(static -static libpprof::static)
endif()
CMAKE
{ cmake -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$there" && cmake --build consumer/build; } >cmake.out 2>&1 ||
    fail "a program that uses the CMake package: $(cat cmake.out)"
for program in shared archive static; do
    [ -x "consumer/build/$program" ] || continue
    "consumer/build/$program" >"$program.pb.gz"
    "$there/bin/cpprof" top "$program.pb.gz" >top.txt
    expect_contains "the profile of the program that is linked to libpprof::$program" top.txt main
done
for program in server server_archive; do
    expect_equal "the program that is linked to libpprof::http" serves "$("consumer/build/$program" 2>server.err)"
done
[ ! -e "$BUILD/lib/libpprof_static.a" ] || [ -x consumer/build/static ] || fail "libpprof::static was not exported"

# ---- what it consists of ----

if command -v python3 >/dev/null; then
    cat >sbom.py <<'PY'
import json, re, subprocess, sys
document = json.load(open(sys.argv[1]))
names = {package["SPDXID"]: package["name"] for package in document["packages"]}
linked = {(names[r["spdxElementId"]], names[r["relatedSpdxElement"]])
          for r in document["relationships"] if r["relationshipType"] == "DYNAMIC_LINK"}
known = {"libz": "zlib", "libpcre2-8": "pcre2", "libprotobuf-c": "protobuf-c", "libdw": "elfutils", "libelf": "elfutils"}
found = set()
for file in sys.argv[2:]:
    part = re.match("[a-z-]*", file.split("/")[-1]).group()
    for needed in re.findall(r"NEEDED.*\[([^.]*)", subprocess.run(["readelf", "-dW", file], stdout=subprocess.PIPE, text=True).stdout):
        if needed not in ("libc", "libm", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64") and needed != part:
            found.add((part, known.get(needed, needed)))
if document["spdxVersion"] != "SPDX-2.3" or found != linked:
    sys.exit(f"files need {sorted(found)}, the list says {sorted(linked)}")
PY
    # shellcheck disable=SC2046 # words
    python3 sbom.py "$there/share/libpprof/libpprof.spdx.json" "$there/bin/cpprof" \
        $(find "$libraries" -name 'libpprof*.so*' -type f) || fail "libpprof.spdx.json is not what is installed"
fi

# ---- the command ----

"$there/bin/cpprof" record -o recorded.pb.gz -- "$victims/ends" exit 2>record.err || true
[ -s recorded.pb.gz ] || fail "the installed cpprof recorded nothing: $(cat record.err)"

# ---- manual pages, completions ----

# words_of: those of the input with four letters or more.
words_of() {
    sed 's/\\f[BIR]//g' | tr -d '\\-' | tr '[:upper:]' '[:lower:]' | grep -oE '[a-z]{4,}' | sort -u
}

verbs=$("$there/bin/cpprof" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
expect_at_least "verbs" 13 "$(echo "$verbs" | wc -l)"
for verb in "" $verbs; do
    page=$there/share/man/man1/cpprof${verb:+-$verb}.1.gz
    gzip -dc "$page" >page.1 || fail "$page is not there"
    if [ -n "$verb" ]; then
        "$there/bin/cpprof" help --all "$verb" | words_of >words.help
    else
        "$there/bin/cpprof" help | grep '^  ' | words_of >words.help
    fi
    words_of <page.1 >words.page
    expect_equal "words of the help that $page lacks" "" "$(comm -23 words.help words.page | grep -v '^usage$' | tr '\n' ' ')"
    ! command -v man >/dev/null || expect_equal "warnings about $page" "" "$(man --warnings -l "$page" 2>&1 >/dev/null)"
done
for script in bash-completion/completions/cpprof zsh/site-functions/_cpprof fish/vendor_completions.d/cpprof.fish; do
    [ -s "$there/share/$script" ] || fail "$script was not installed"
done
gzip -dc "$there/share/man/man7/libpprof.7.gz" >options.7
gzip -dc "$there/share/man/man3/libpprof.3.gz" >functions.3
# The options that docs/OPTIONS.md lists, and the functions that the page names.
sed -n '/^## Options in/,/^## Variables/ s/^| `\([a-z]*\).* | .*/\1/p' "$SRC/docs/OPTIONS.md" | sort -u >options
[ "$(wc -l <options)" -ge 10 ] || fail "docs/OPTIONS.md lists no options any more"
while read -r option; do
    grep -qE "^\\\\fB$option" options.7 || fail "libpprof(7) does not list the option $option"
done <options
for function in $(grep -o 'pprof_[a-z_]*(' functions.3 | tr -d '('); do
    grep -q "$function(" "$there/include/pprof.h" || fail "libpprof(3) names $function, which pprof.h does not declare"
done

# ---- Debian packages, which are for glibc ----

if ! is_musl "$library" && command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
    cpack --config "$BUILD/CPackConfig.cmake" -B "$work/packages" >cpack.out 2>&1 || fail "cpack: $(cat cpack.out)"
    for package in libpprof0 libpprof-dev cpprof; do
        dpkg-deb -c packages/${package}_*.deb >"$package.list" || fail "cpack did not make $package"
        ! command -v lintian >/dev/null || lintian --allow-root --fail-on error packages/${package}_*.deb >lintian.out 2>&1 ||
            fail "lintian on $package: $(cat lintian.out)"
    done
    expect_contains "libpprof0" libpprof0.list /libpprof.so.0
    expect_contains "libpprof-dev" libpprof-dev.list /include/pprof.h
    expect_contains "libpprof-dev" libpprof-dev.list /libpprof.pc
    expect_contains "cpprof" cpprof.list /bin/cpprof
    dpkg-deb -x packages/libpprof0_*.deb root
    dpkg-deb -x packages/cpprof_*.deb root
    root/usr/bin/cpprof record -o packaged.pb.gz -- "$victims/ends" exit 2>record.err || true
    [ -s packaged.pb.gz ] || fail "the packaged cpprof recorded nothing: $(cat record.err)"
fi
echo ok
