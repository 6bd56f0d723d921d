# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# glibc_support.sh: what glibc's own tests are linked with, outside of glibc's tree. Included after both_ways.sh.
#
#   $source   glibc's source package        $built   what is made of it
#   compile ARGUMENTS...                    the compiler, with the headers that the tests want
#   try NAME COMMAND...                     what cannot be built is left out; why stands in $built/NAME.err

debian_source glibc
source=$WORK/glibc
built=$WORK/built
mkdir -p "$built/headers" "$built/support" "$built/tests"

# Only what does not need glibc's own headers: those would hide the system's.
for folder in support posix sysdeps malloc; do
    ln -sfn "$source/$folder" "$built/headers/$folder"
done
for header in array_length libc-diag intprops idx verify libc-pointer-arith dso_handle; do
    cp "$source/include/$header.h" "$built/headers/"
done
ln -sf "$source/test-skeleton.c" "$built/headers/"
cp "$source/sysdeps/x86_64/stackinfo.h" "$built/headers/"
: >"$built/headers/config.h"

compile() {
    cc -w -std=gnu11 -O1 -D_GNU_SOURCE -DTIMEOUTFACTOR=3 -include limits.h -I"$built/headers" -I"$source/support" \
        -DSRCDIR_PATH="\"$source\"" -DOBJDIR_PATH="\"$built\"" -DOBJDIR_ELF_LDSO_PATH='"/lib64/ld-linux-x86-64.so.2"' \
        -DINSTDIR_PATH='"/usr"' -DLIBDIR_PATH='"/usr/lib"' -DBINDIR_PATH='"/usr/bin"' -DSBINDIR_PATH='"/usr/sbin"' \
        -DSLIBDIR_PATH='"/lib"' -DROOTSBINDIR_PATH='"/sbin"' -DCOMPLOCALEDIR_PATH='"/usr/lib/locale"' \
        -DSYSCONFDIR_PATH='"/etc"' "$@"
}

try() {
    try_name=$1
    shift
    "$@" 2>"$built/$try_name.err" || return 0
    rm -f "$built/$try_name.err"
}

if [ ! -e "$built/libsupport.a" ]; then
    for file in "$source"/support/*.c; do
        name=$(basename "$file" .c)
        case $name in
        test-* | links-* | shell-* | echo-* | true-* | *-container* | tst-*) continue ;;
        esac
        try "support/$name" compile -c "$file" -o "$built/support/$name.o"
    done
    ar rc "$built/libsupport.a" "$built"/support/*.o
fi
