#!/bin/sh
# SPDX-License-Identifier: MIT
#
# otel_reader.sh: the OpenTelemetry eBPF profiler's own reader of process contexts finds the resource and the keys of labels,
# while keys are added all the time. Not part of ./test.sh: it needs Go modules, which few machines may fetch.
#
#   BUILD=$PWD/build/release SRC=$PWD sh test/extra/otel_reader.sh
#
# Needs go, as new as the module wants it (1.26). Takes half a minute the first time. To run with another version of the reader:
# OTEL_READER=v0.0.202633.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
reader=${OTEL_READER:-v0.0.202633}

mkdir reader
cat >reader/main.go <<'GO'
// main.go PID: reads the context until it has 250 keys; prints it, and how often it was whole, or was just being written.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/processcontext"
	"go.opentelemetry.io/ebpf-profiler/remotememory"
)

func mapping(pid string) (address uint64) {
	file, _ := os.Open("/proc/" + pid + "/maps")
	for lines := bufio.NewScanner(file); lines.Scan(); {
		part := strings.SplitN(lines.Text(), " ", 6)
		if processcontext.IsContextMapping(part[1][2] == 'x', strings.TrimSpace(part[5])) {
			address, _ = strconv.ParseUint(strings.Split(part[0], "-")[0], 16, 64)
		}
	}
	return address
}

func main() {
	pid, _ := strconv.Atoi(os.Args[1])
	memory := remotememory.NewProcessVirtualMemory(libpf.PID(pid))
	address := libpf.Address(mapping(os.Args[1]))
	whole, written, keys := 0, 0, 0
	var info processcontext.Info
	for keys < 250 {
		var err error
		info, err = processcontext.Read(address, memory, 0, 1)
		if errors.Is(err, processcontext.ErrConcurrentUpdate) {
			written++
			continue
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		whole++
		for _, pair := range info.Context.Attributes {
			if pair.Key == "threadlocal.attribute_key_map" {
				found := pair.Value.GetArrayValue().GetValues()
				for i, key := range found {
					if key.GetStringValue() != fmt.Sprintf("key-%d", i) {
						fmt.Println("another key:", key)
						os.Exit(1)
					}
				}
				keys = len(found)
			}
		}
	}
	for _, pair := range info.Context.Resource.Attributes {
		fmt.Printf("%s=%s\n", pair.Key, pair.Value.GetStringValue())
	}
	for _, pair := range info.Context.Attributes {
		fmt.Printf("%s %s %d\n", pair.Key, pair.Value.GetStringValue(), len(pair.Value.GetArrayValue().GetValues()))
	}
	fmt.Println("looks", whole, written)
}
GO
(cd reader && printf 'module reader\n\ngo 1.26\n' >go.mod && GOFLAGS=-mod=mod go get "go.opentelemetry.io/ebpf-profiler@$reader" &&
    GOFLAGS=-mod=mod go build -o read .) >build.out 2>&1 || skip "the reader cannot be built: $(tail -n 1 build.out)"

mkfifo guest.in
LIBPPROF=otel OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=service.instance.id=1,a=%2C "$linked/otel" grows <guest.in >said &
writer=$!
started="$started $writer"
exec 9>guest.in
wait_until grep -q waits said
reader/read "$writer" >seen &
reads=$!
echo >&9
wait "$reads" || fail "the reader: $(cat seen)"
expect_equal "what the reader sees" "service.name=shop
a=,
service.instance.id=1
threadlocal.schema_version tlsdesc_v1_dev 0
threadlocal.attribute_key_map  250" "$(grep -v ^looks seen)"
wait_until grep -q over said
echo >&9
ends_with 0 "$writer"
echo "ok: $(grep ^looks seen)"
