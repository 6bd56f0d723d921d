#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_otel.sh: what the option `otel` shows to readers outside of the process: the context of the process, also read by
# protoc, and the labels of its threads; what it does not show without the option, after fork, exec and detach. The reader
# is otel/context.py, the program linked/otel.c.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
# shellcheck source=test/e2e/attach/attach.sh
. "$SRC/test/e2e/attach/attach.sh"
need python3 protoc
unset OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES

# look CASE [VARIABLE=VALUE...]: what the reader finds in the program of that case.
look() {
    what=$1
    shift
    status=0
    env PYTHONDONTWRITEBYTECODE=1 "$@" python3 "$SRC/test/e2e/otel/look.py" "$what" "${program:-$linked/otel}" "${case:-$what}" \
        >looked 2>looked.err || status=$?
    [ "$status" != 77 ] || skip "$(tail -n 1 looked)"
    [ "$status" = 0 ] || fail "$what $*: $(cat looked looked.err)"
    cat looked
}

resource() { case=shown look context "$@" | sed 's/^\(service.instance.id=\)\([0-9a-f]*-\)\{4\}[0-9a-f]\{12\}$/\1UUID/'; }

# ---- the process ----

expect_equal "without the option" "nothing is published" "$(resource LIBPPROF=cpu)"
expect_equal "defaults" "service.instance.id=UUID
service.name=otel" "$(resource LIBPPROF=otel)"
expect_equal "OTEL_SERVICE_NAME comes first" "service.instance.id=UUID
service.name=shop" "$(resource LIBPPROF=otel OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=service.name=other)"
expect_equal "service= comes before it" "service.instance.id=UUID
service.name=mine" "$(resource LIBPPROF=otel,service=mine OTEL_SERVICE_NAME=shop)"
expect_equal "a list" "a=last, one
b=
service.instance.id=i
service.name=n=1" "$(resource LIBPPROF=otel:process \
    OTEL_RESOURCE_ATTRIBUTES='a=first, b = ,service.name=n=1,, service.instance.id=i ,a=last%2C%20one')"
for wrong in 'a' 'a=1,=2' 'a=%2' 'a=%zz' 'a=1,b'; do
    expect_equal "the list $wrong" "service.instance.id=UUID
service.name=otel" "$(resource LIBPPROF=otel "OTEL_RESOURCE_ATTRIBUTES=$wrong")"
    expect_contains "what is said of $wrong" looked.err "OTEL_RESOURCE_ATTRIBUTES is ignored"
done
expect_equal "no UTF-8" "a=x��" "$(resource LIBPPROF=otel OTEL_RESOURCE_ATTRIBUTES="a=x$(printf '\377\303')" | grep ^a)"
resource LIBPPROF=otel "OTEL_RESOURCE_ATTRIBUTES=long=$(printf '%9000s' '' | tr ' ' x)" >/dev/null
expect_contains "what is said of too much" looked.err "an attribute is left out"
resource LIBPPROF=otel=all >/dev/null
expect_contains "a value that is none" looked.err "write otel, otel=process or otel=thread"

# The published definitions, by another reader.
cat >context.proto <<'PROTO'
syntax = "proto3";
message Value { oneof value { string text = 1; Array array = 5; } }
message Array { repeated Value values = 1; }
message Pair { string key = 1; Value value = 2; }
message Resource { repeated Pair attributes = 1; }
message Context { Resource resource = 1; repeated Pair attributes = 2; }
PROTO
case=kept look context LIBPPROF=otel OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=service.instance.id=1 >/dev/null
protoc --decode=Context context.proto <payload >decoded || fail "protoc does not read the payload"
expect_equal "by protoc" 'service.name shop service.instance.id 1 threadlocal.schema_version tlsdesc_v1_dev threadlocal.attribute_key_map first second third' \
    "$(sed -n 's/.*\(key\|text\): "\(.*\)"/\2/p' decoded | tr '\n' ' ' | sed 's/ $//')"

# ---- the threads ----

long() { python3 -c "print('$1' * $2)"; }
cat >expected <<LINES
none - - - 0
one - - {"tenant": "a"} 1
inherits - - {"path": "/index.html", "tenant": "b"} 2
back - - {"tenant": "a"} 2
ids 4bf92f3577b34da6a3ce929d0e0e4736 f067aa0ba902b7 {"tenant": "a"} 2
half - - {"span_id": "0000000000000000", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"} 4
odd - - {"empty": "", "no text": "x??y", "é": "€"} 7
long - - {"a": "$(long a 254)", "b": "$(long b 255)", "d": "short"} 10
thread - - {"tenant": "a"} 10
set - - {"tenant": "a"} 10
unset - - - 10
1 instances
LINES
look shown LIBPPROF=otel >/dev/null
diff expected looked || fail "labels"
expect_equal "labels, with the process only" "12 11" \
    "$(look shown LIBPPROF=otel=process | awk '/nothing is shown/ { n++ } END { print NR, n }')"
expect_equal "labels, without the option" "0 instances" "$(look shown LIBPPROF=cpu | tail -n 1)"
expect_equal "256 keys" "keys - - {} 256" "$(case=keys look shown LIBPPROF=otel | head -n 1)"

# A program that is linked to libpprof.a has the variable itself.
if [ -e "$BUILD/lib/libpprof.a" ]; then
    need cc
    cc -O1 -pie -fPIE -o archive "$SRC/test/e2e/linked/otel.c" -I"$SRC/include" "$BUILD/lib/libpprof.a" -pthread -lz -lm \
        -Wl,--export-dynamic-symbol=otel_thread_ctx_v1 || fail "a program with the archive"
    program=$work/archive look shown LIBPPROF=otel >/dev/null
    diff expected looked || fail "labels of a program with the archive"
fi

# ---- fork, exec ----

expect_equal "a child" 'child nothing is shown
parent - - {"tenant": "a"} 1
1 instances' "$(case=forks look shown LIBPPROF=otel)"
expect_equal "a child with subprocesses" 'child - - {"tenant": "a"} 2
parent - - {"tenant": "a"} 1
2 instances' "$(case=forks look shown LIBPPROF=otel,subprocesses)"
expect_equal "after exec" "nothing is published" \
    "$(preload otel sh -c 'exec python3 "$0" process $$' "$SRC/test/e2e/otel/look.py")"
{ is_musl "$library" && ! is_musl /usr/bin/python3; } || expect_equal "after exec with subprocesses" "service.name=python3" \
    "$(preload otel,subprocesses sh -c 'exec python3 "$0" process $$' "$SRC/test/e2e/otel/look.py" | grep name |
        sed 's/python3.*/python3/')"

# ---- seccomp ----

# A filter loses the context at most. `forks` makes new keys in the program and in its children; nobody looks.
confined=$victims/confined
under_filter() { # HOW CALL COMMAND...
    printf '\n\n\n' >lines
    how=$1
    call=$2
    shift 2
    status timeout -s KILL 60 "$confined" before "$how" "$call" -- "$@" forks <lines 2>errors | tail -n 1
}
tried=0
for call in memfd_create ftruncate prctl getrandom process_vm_readv madvise; do
    for how in refuse kill; do
        [ "$(under_filter $how $call "$linked/otel")" = 0 ] || continue # it does not get through without the option either
        tried=$((tried + 1))
        expect_equal "status under a filter that does $how $call" 0 \
            "$(under_filter $how $call env LIBPPROF=otel "$linked/otel")"
        case $how-$call in
        kill-process_vm_readv | refuse-*) ;;
        *) expect_contains "messages under a filter that does $how $call" errors "otel: nothing is published" ;;
        esac
    done
done
[ "$(under_filter refuse readlink true)" != 0 ] || expect_at_least "filters" 8 "$tried"

# ---- a process that runs ----

of_guest() { python3 "$SRC/test/e2e/otel/look.py" find "$guest"; } # only a parent may read its memory everywhere

start env LIBPPROF=control LD_PRELOAD="$library" "$victims/attached"
tell state >/dev/null
expect_equal "not asked for" "nothing is published" "$(of_guest)"
answer "configure otel=process" >/dev/null
expect_equal "asked for" "something is published" "$(of_guest)"
answer "configure otel" >/dev/null
end

start
attach
expect_equal "attached" "nothing is published" "$(of_guest)"
answer "configure otel" >/dev/null
expect_equal "attached, and asked for" "something is published" "$(of_guest)"
detach
expect_equal "detached" "nothing is published" "$(of_guest)"
end
echo ok
