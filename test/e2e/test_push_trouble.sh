#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_push_trouble.sh: servers that do not take profiles: those that are busy, answer nonsense, or send elsewhere; tokens,
# certificates, and what a folder keeps.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/fleet.sh
. "$SRC/test/e2e/fleet.sh"
# shellcheck source=test/e2e/push.sh
. "$SRC/test/e2e/push.sh"
need openssl

for kind in cpu heap; do
    cp "$SRC/test/golden/go/$kind.pb.gz" .
done
# push OPTION... URL FILE: to Pyroscope. Each time is a series of its own, which has each moment once.
turn=0
push() {
    turn=$((turn + 1))
    "$cpprof" push --to pyroscope --label "turn=$turn" "$@" >out 2>err
}

# Each of these is tried again, and the profile comes once.
receive pyroscope busy --any-time
for trouble in '"status": 503' '"status": 429, "retry_after": 1' '"status": 401' '"garbage": true' '"close": "before"' \
    '"redirect": "http://127.0.0.1:1"'; do
    before=$(received busy process_cpu)
    answer_next "{\"times\": 1, $trouble}"
    push --wait 60s "$url" cpu.pb.gz || fail "$trouble: $(cat err)"
    expect_contains "$trouble" err "will try again"
    expect_contains "$trouble" err "takes profiles again"
    expect_equal "$trouble: profiles" $((before + 1)) "$(received busy process_cpu)"
done

# A redirect is not followed, and what it leads to sees nothing.
receive pyroscope elsewhere --any-time
elsewhere=$url
receive pyroscope redirects --any-time
answer_next "{\"times\": 9, \"redirect\": \"$elsewhere\"}"
! push --wait 1s --token-file none "$url" cpu.pb.gz || fail "a push to a redirect succeeds"
expect_contains "the complaint" err "the token in none"
echo a-secret-of-many-letters >token
! push --wait 1s --token-file token "$url" cpu.pb.gz || fail "a push to a redirect succeeds"
expect_contains "the complaint" err "sends us elsewhere"
[ ! -e elsewhere/received.jsonl ] || fail "something came to where the redirect leads: $(cat elsewhere/received.jsonl)"

# A refusal is final, and said once.
receive pyroscope refuses
! push --wait 60s "$url" cpu.pb.gz heap.pb.gz || fail "a refused push succeeds" # these profiles are of another year
expect_contains "the complaint" err "the server answers 400"
expect_contains "the complaint" err "lost"

# Tokens and tenants.
receive pyroscope closed --any-time --token a-secret-of-many-letters --tenant shop
! push --wait 1s --tenant shop "$url" cpu.pb.gz || fail "a push without a token succeeds"
expect_contains "the complaint" err "the server answers 401"
push --tenant shop --token-file token "$url" cpu.pb.gz || fail "a push with a token fails: $(cat err)"
CPPROF_TOKEN_FILE=token push --tenant shop "$url" cpu.pb.gz || fail "a push with CPPROF_TOKEN_FILE fails: $(cat err)"
! push --wait 1s --token-file token "$url" cpu.pb.gz || fail "a push without a tenant succeeds"
expect_equal "profiles" 2 "$(received closed process_cpu)"

# In a process: by a file and by a variable. It says nothing of the token, also where it is wrong. At its end it waits
# for two seconds at most, which may be too few on a busy machine: hence attempts.
# shellcheck disable=SC2154 # $token is given with each call
in_process() { # OPTIONS
    guest env "LIBPPROF_PUSH_TOKEN=$token" "LIBPPROF=heap:1,interval=1h,push=$url,push-to=pyroscope,push-tenant=shop$1" \
        LD_PRELOAD="$library" "$victims/push_work"
    printf x >&9
    wait_until has_line guest.out worked
    ends_with 0 "$guest"
    cat guest.err >>said
}
sends_two() { # how many came before: in $before
    in_process "$with"
    expect_equal "profiles of a process with a token" $((before + 2)) "$(received closed memory)"
}
with_file() { before=$(received closed memory) token='' with=",push-token=$work/token" && sends_two; }
with_variable() { before=$(received closed memory) token=a-secret-of-many-letters with='' && sends_two; }
attempts 3 with_file
attempts 3 with_variable
token=another-secret-of-letters in_process ''
expect_contains "what is said" said "401"
url=http://user:a-password-for-it@${url#http://}
token='' in_process ''
url=http://user:a-password-for-it@127.0.0.1:1
token='' in_process ''
push --wait 1s "$url" cpu.pb.gz || true
! grep 'secret\|password' said err || fail "a secret is in a message"
stop_receiver

# Certificates.
certificate here IP:127.0.0.1
certificate there DNS:elsewhere.example
receive pyroscope tls --any-time --tls "$work/here.pem" "$work/here.key"
! push --wait 1s "$url" cpu.pb.gz || fail "an unknown certificate is trusted"
grep -qi 'certificate' err || fail "the complaint about a certificate: $(cat err)"
push --ca here.pem "$url" cpu.pb.gz || fail "a known certificate is not trusted: $(cat err)"
receive pyroscope other --any-time --tls "$work/there.pem" "$work/there.key"
! push --wait 1s --ca there.pem "$url" cpu.pb.gz || fail "the certificate of another host is trusted"
[ ! -e other/received.jsonl ] || fail "something was sent: $(cat other/received.jsonl)"
stop_receiver

# What the server has not taken is in the folder, and the next push sends it.
! push --wait 100ms --spool kept "$url" cpu.pb.gz heap.pb.gz || fail "a push to nobody succeeds"
expect_equal "files" 2 "$(ls kept | wc -l)"
expect_contains "the complaint" err "the spool has them"
receive pyroscope back --any-time
push --spool kept "$url" cpu.pb.gz || fail "$(cat err)"
expect_equal "profiles" "2 1" "$(received back process_cpu) $(received back memory)"
expect_equal "files" 0 "$(ls -A kept | wc -l)"
