#!/bin/sh
# SPDX-License-Identifier: MIT
# timeout: 900
# nightly: 3
#
# test_oss_fuzz.sh: test/fuzz/oss-fuzz/build.sh, run with the variables that OSS-Fuzz sets, builds a fuzzer of each test/fuzz/fuzz_*.c,
# and each runs its seeds. project.yaml has what OSS-Fuzz asks for.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need clang clang++ cmake python3

mkdir out
(cd "$SRC" && CC=clang CXX=clang++ CFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address,fuzzer-no-link" \
    CXXFLAGS="-O1 -fsanitize=address,fuzzer-no-link" LIB_FUZZING_ENGINE=-fsanitize=fuzzer SANITIZER=address \
    WORK="$work/work" OUT="$work/out" bash test/fuzz/oss-fuzz/build.sh) >build.out 2>&1 || fail "build.sh: $(tail -n 30 build.out)"
for source in "$SRC"/test/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    [ -x "out/$name" ] || fail "build.sh made no $name"
    mkdir seeds
    if [ -e "out/${name}_seed_corpus.zip" ]; then
        python3 -m zipfile -e "out/${name}_seed_corpus.zip" seeds
        [ -n "$(ls seeds)" ] || fail "no seeds of $name in its archive"
    fi
    "out/$name" -runs=0 seeds >run.out 2>&1 || fail "$name: $(tail -n 30 run.out)"
    rm -r seeds
done
python3 -c 'import yaml, sys
project = yaml.safe_load(open(sys.argv[1]))
missing = {"homepage", "language", "primary_contact", "main_repo"} - set(project)
sys.exit(f"project.yaml has no {missing}" if missing else 0)' "$SRC/test/fuzz/oss-fuzz/project.yaml" || fail "project.yaml"
echo ok
