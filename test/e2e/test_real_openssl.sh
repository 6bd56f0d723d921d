#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, its victims are the distribution's programs
# nightly: 2
#
# test_real_openssl.sh: libcrypto's assembler: CFAs on every register, by expressions, on aligned stacks.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go openssl

head -c 3000000 /dev/zero >zeros
for digest in sha256 sha512 sha3-256 blake2b512; do
    same_as_without $digest 1 openssl dgst -$digest zeros zeros zeros zeros
done
for cipher in aes-256-cbc aes-128-ctr chacha20 camellia-128-cbc; do
    same_as_without $cipher 1 openssl enc -$cipher -pbkdf2 -iter 20000 -nosalt -k secret -in zeros
done
# One second each, with measurements for output; the multiplications of every other public-key algorithm.
for algorithm in ecdsap384 dsa2048 rsa2048 ecdhp256; do
    speed_status=$(record "$work/$algorithm.pb.gz" openssl speed -seconds 1 $algorithm >speed.out \
        2>&1 || echo $?)
    expect_equal "status of openssl speed $algorithm" "" "$speed_status"
    expect_whole $algorithm.pb.gz
    # A second of a busy machine is less than one of CPU time.
    expect_at_least "weight of $algorithm" 20 "$(weight $algorithm.pb.gz.raw)"
done
record "$work/gcm.pb.gz" openssl speed -seconds 1 -bytes 4096 -evp aes-256-gcm >speed.out 2>&1 ||
    fail "openssl speed -evp aes-256-gcm"
expect_whole gcm.pb.gz
echo ok
