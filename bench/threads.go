// SPDX-License-Identifier: MIT
//
// threads.go: threads.c with a thousand goroutines, in Go: each waits 10 frames deep at one of 50 places.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"syscall"
	"time"
	"unsafe"
)

const (
	goroutines = 1000
	frames     = 8
	rounds     = 100
)

var begun = make(chan bool)

func waitHere() {
	begun <- true
	select {}
}

//go:noinline
func left(depth, place int) { descend(depth-1, place/2) }

//go:noinline
func right(depth, place int) { descend(depth-1, place/2) }

// The bits of the place lead one way or the other: 64 stacks, of which 50 are used.
//
//go:noinline
func descend(depth, place int) {
	if depth <= 0 {
		waitHere()
	} else if place%2 == 0 {
		left(depth-1, place)
	} else {
		right(depth-1, place)
	}
}

// Getrusage would count in ticks.
func threadCPU() time.Duration {
	var now syscall.Timespec
	const threadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime,
		uintptr(unsafe.Pointer(&now)), 0); err != 0 {
		panic(err)
	}
	return time.Duration(now.Nano())
}

func one(debug int) float64 {
	start := threadCPU()
	if err := pprof.Lookup("goroutine").WriteTo(io.Discard, debug); err != nil {
		panic(err)
	}
	return float64(threadCPU()-start) / 1e6
}

func measure(name string, debug int) {
	times := make([]float64, rounds)
	for i := range times {
		times[i] = one(debug)
	}
	sort.Float64s(times)
	fmt.Printf("%s %.3f ms\n", name, times[rounds/2])
}

func main() {
	runtime.LockOSThread()
	for i := 0; i < goroutines; i++ {
		go descend(frames, i%50)
	}
	for i := 0; i < goroutines; i++ {
		<-begun
	}
	fmt.Printf("threads.first.go %.3f ms\n", one(0))
	measure("threads.proto.go", 0)
	measure("threads.text.go", 1)
	measure("threads.dump.go", 2)
	os.Exit(0)
}
