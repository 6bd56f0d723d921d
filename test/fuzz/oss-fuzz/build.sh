#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh: builds every fuzzer for OSS-Fuzz into $OUT, each with its seeds. OSS-Fuzz runs it in the project's folder with
# $CC, $CXX, $CFLAGS, $CXXFLAGS, $LIB_FUZZING_ENGINE, $WORK and $OUT. The machine that runs the fuzzers has only libc: libraries
# are linked in where an archive is installed.

set -eu
: "${CC:?}" "${CXX:?}" "${LIB_FUZZING_ENGINE:?}" "${OUT:?}"
CFLAGS=${CFLAGS-} CXXFLAGS=${CXXFLAGS-} WORK=${WORK:-$OUT/work}
mkdir -p "$WORK" "$OUT"

# archive_of NAME: the path of libNAME.a, or nothing.
archive_of() {
    local path
    path=$($CC -print-file-name="lib$1.a")
    [ "$path" = "lib$1.a" ] || echo "$path"
}
zlib=$(archive_of z) pcre2=$(archive_of pcre2-8) protobuf_c=$(archive_of protobuf-c)

# build_from_sources NAME FILE...: a fuzzer that lists its sources.
build_from_sources() {
    local name=$1 objects=() object file
    shift
    for file in "test/fuzz/fuzz_$name.c" "$@"; do
        object=$WORK/$name/${file//\//_}.o
        mkdir -p "$WORK/$name"
        # shellcheck disable=SC2086 # words
        $CC $CFLAGS -std=gnu11 -D_GNU_SOURCE -Isrc -Iinclude -Itest -c "$file" -o "$object"
        objects+=("$object")
    done
    # shellcheck disable=SC2086 # words
    $CXX $CXXFLAGS "${objects[@]}" $LIB_FUZZING_ENGINE -o "$OUT/fuzz_$name" ${zlib:--lz} -lpthread -ldl
}

of_cmake=()
for source in test/fuzz/fuzz_*.c; do
    name=${source#test/fuzz/fuzz_} name=${name%.c}
    sources=$(sed -n '1,40s/^[ /]*\* *Sources: *//p' "$source" | tr '\n' ' ')
    if [ -n "$sources" ]; then
        # shellcheck disable=SC2086 # words
        build_from_sources "$name" $sources
    else
        of_cmake+=("fuzz_$name")
    fi
    if [ -d "test/fuzz/corpus/$name" ]; then
        rm -f "$OUT/fuzz_${name}_seed_corpus.zip"
        (cd "test/fuzz/corpus/$name" && python3 -m zipfile -c "$OUT/fuzz_${name}_seed_corpus.zip" ./*)
    fi
done

# Those that are targets of the build.
cmake -S . -B "$WORK/cmake" -DPPROF_FUZZ=ON -DPPROF_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
    -DPPROF_FUZZ_FLAGS= -DPPROF_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" ${zlib:+-DZLIB_LIBRARY="$zlib"} \
    ${pcre2:+-DPCRE2_LIBRARY="$pcre2"} ${protobuf_c:+-DPROTOBUF_C_LIBRARY="$protobuf_c"}
cmake --build "$WORK/cmake" --target "${of_cmake[@]}" -j "$(nproc)"
for target in "${of_cmake[@]}"; do
    find "$WORK/cmake" -type f -name "$target" -perm -u+x -exec cp {} "$OUT/" \;
done
