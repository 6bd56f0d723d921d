// SPDX-License-Identifier: MIT
//
// profile.go: what profile.c measures, of Go's runtime/pprof.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

const (
	frames = 28
	stacks = 50
	block  = 1000
	few    = 10000
	many   = 1000000
	enough = 5 * time.Second
)

var (
	blocks  = 300
	writes  = 21
	places  [many]byte
	profile *pprof.Profile
	levels  int
	sink    int
)

//go:noinline
func descend(path, depth int, function func()) {
	if depth == 0 {
		function()
		sink++
	} else if path%2 == 0 {
		descend(path/2, depth-1, function)
		sink += 2
	} else {
		descend(path/2, depth-1, function)
		sink += 3
	}
}

//go:noinline
func countFrames() int {
	var pcs [128]uintptr
	return runtime.Callers(1, pcs[:])
}

func findLevels() {
	count := 0
	for count != frames {
		levels++
		descend(0, levels, func() { count = countFrames() })
		if count > frames {
			fail("the stack has %d frames already", count)
		}
	}
}

//go:noinline
func addRemove(pairs int) {
	for i := 0; i < pairs; i++ {
		profile.Add(&places[i], 1)
		profile.Remove(&places[i])
	}
}

func measureAddRemove(name string, inOnePlace int) {
	var times []float64
	for i := 0; i < blocks; i++ {
		start := time.Now()
		for k := 0; k < block/inOnePlace; k++ {
			descend(0, levels, func() { addRemove(inOnePlace) })
		}
		times = append(times, float64(time.Since(start).Nanoseconds())/block)
	}
	report(name, median(times), "ns")
}

func addValues(count int) {
	for stack := 0; stack < stacks; stack++ {
		descend(stack, levels, func() {
			for i := stack * (count / stacks); i < (stack+1)*(count/stacks); i++ {
				profile.Add(&places[i], 1)
			}
		})
	}
}

type nowhere struct{ bytes int }

func (n *nowhere) Write(data []byte) (int, error) {
	n.bytes += len(data)
	return len(data), nil
}

func measureWrite(name string) {
	var times []float64
	begin := time.Now()
	for i := 0; i < writes && time.Since(begin) < enough; i++ {
		var to nowhere
		start := time.Now()
		if err := profile.WriteTo(&to, 0); err != nil || to.bytes == 0 {
			fail("the profile could not be written: %v", err)
		}
		times = append(times, float64(time.Since(start).Nanoseconds())/1e6)
	}
	report(name, median(times), "ms")
}

// Bytes of memory that the process has, without what the collector could give back.
func resident() float64 {
	debug.FreeOSMemory()
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		var kilobytes float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f", &kilobytes); n == 1 {
			return kilobytes * 1024
		}
	}
	fail("/proc/self/status does not tell")
	return 0
}

func median(values []float64) float64 {
	sort.Float64s(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func report(name string, value float64, unit string) {
	fmt.Printf("profile.%s.go %.4g %s\n", name, value, unit)
}

func fail(format string, arguments ...interface{}) {
	fmt.Fprintf(os.Stderr, "profile.go: "+format+"\n", arguments...)
	os.Exit(1)
}

func main() {
	if os.Getenv("BENCH") == "quick" {
		blocks, writes = 50, 5
	}
	findLevels()
	profile = pprof.NewProfile("bench.pairs")
	measureAddRemove("add_remove_28", block)
	measureAddRemove("add_remove_28_entered", 1)
	profile = pprof.NewProfile("bench.few")
	addValues(few)
	measureWrite("write_10000")
	profile = pprof.NewProfile("bench.many")
	before := resident()
	addValues(many)
	report("value_bytes", (resident()-before)/many, "B")
	measureWrite("write_1000000")
}
