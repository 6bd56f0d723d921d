#!/bin/sh
# SPDX-License-Identifier: MIT
#
# many_libraries.sh CC COUNT FOLDER: builds FOLDER/many_libraries, a program that calls one function in
# each of COUNT small shared libraries (FOLDER/libraries/), and does nothing else.

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
