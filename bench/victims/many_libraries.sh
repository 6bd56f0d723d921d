#!/bin/sh
# SPDX-License-Identifier: MIT
#
# many_libraries.sh CC COUNT FOLDER: builds two programs that call a function in each library that they
# are linked to, and do nothing else:
#
#   FOLDER/many_libraries   COUNT small shared libraries (FOLDER/libraries/)
#   FOLDER/large_library    one of 200 000 functions: 7 MB of unwind information, 8 MB of symbols

set -eu
cc=$1
count=$2
folder=$3

mkdir -p "$folder/libraries"
cd "$folder/libraries"
cat >library.c <<'C'
int FUNCTION(int argument);
int FUNCTION(int argument)
{
    return argument + 1;
}
C
{
    i=0
    while [ "$i" -lt "$count" ]; do
        echo "int library_$i(int argument);"
        i=$((i + 1))
    done
    echo 'int main(void) {'
    echo '    int sum = 0;'
    i=0
    while [ "$i" -lt "$count" ]; do
        echo "    sum += library_$i(sum);"
        i=$((i + 1))
    done
    echo '    return sum == 0; }'
} >main.c

i=0
links=
while [ "$i" -lt "$count" ]; do
    $cc -O1 -shared -fPIC -DFUNCTION="library_$i" -o "libbench_$i.so" library.c
    links="$links -lbench_$i"
    i=$((i + 1))
done
# shellcheck disable=SC2086 # a list of options
$cc -O1 -o "$folder/many_libraries" main.c -L. $links -Wl,-rpath,"$folder/libraries"

# Its functions are local, so that it is the file that is large, not the loader's work.
cat >large.S <<'S'
        .macro  function
function_\@:
        .cfi_startproc
        nop
        .cfi_adjust_cfa_offset 16
        nop
        .cfi_adjust_cfa_offset -16
        ret
        .cfi_endproc
        .type   function_\@, @function
        .size   function_\@, . - function_\@
        .endm
        .text
        .rept   200000
        function
        .endr
        .section .note.GNU-stack, "", @progbits
S
$cc -c -o large.o large.S
$cc -O1 -shared -fPIC -DFUNCTION=library_0 -o libbench_large.so library.c large.o
echo 'int library_0(int argument); int main(void) { return library_0(0) != 1; }' >large_main.c
$cc -O1 -o "$folder/large_library" large_main.c -L. -lbench_large -Wl,-rpath,"$folder/libraries"
