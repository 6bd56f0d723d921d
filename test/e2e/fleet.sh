# shellcheck shell=sh disable=SC2154 # $work and $SRC are lib.sh's
# SPDX-License-Identifier: MIT
#
# fleet.sh: what the tests of push and of the agent share, after lib.sh: the strict receiver (fleet/receiver.py).
fleet=$SRC/test/e2e/fleet
export PYTHONDONTWRITEBYTECODE=1

# receive pyroscope|parca|otlp FOLDER [OPTION...]: starts a receiver that stores in $work/FOLDER what it gets. $url is its address, $receiver its
# process.
receive() {
    receive_backend=$1 receive_folder=$2
    shift 2
    python3 "$fleet/receiver.py" --as "$receive_backend" --store "$work/$receive_folder" "$@" >"$receive_folder.port" \
        2>"$receive_folder.err" &
    receiver=$!
    started="$started $receiver"
    wait_until has_text "$receive_folder.port" "port "
    case " $* " in
    *" --tls "*) url=https ;;
    *) url=http ;;
    esac
    url=$url://127.0.0.1:$(sed -n 's/^port //p' "$receive_folder.port")
}

# certificate NAME SUBJECT_ALTERNATIVE_NAME: NAME.pem, which signs itself, and NAME.key.
certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=$2" \
        -keyout "$1.key" -out "$1.pem" 2>openssl.log || fail "no certificate: $(cat openssl.log)"
}

# answer_next JSON: what the receiver at $url does with the next requests (fleet/receiver.py).
answer_next() {
    python3 -c 'import sys, urllib.request
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/-/next", sys.argv[2].encode()), timeout=20)' "$url" "$1"
}
