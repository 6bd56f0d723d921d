// SPDX-License-Identifier: MIT
//
// contention_loop.go: what victims/contention_loop.c does, in Go: writes the profiles go.block.pb.gz and go.mutex.pb.gz.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
)

const (
	threads = 4
	amount  = 200
)

var (
	mutex  sync.Mutex
	shared uint64
	group  sync.WaitGroup
)

//go:noinline
func work() {
	for i := 0; i < amount; i++ {
		shared++
	}
}

//go:noinline
func takes_turns(turns int) {
	for i := 0; i < turns; i++ {
		mutex.Lock()
		work()
		mutex.Unlock()
	}
	group.Done()
}

func write(name string) {
	file, err := os.Create("go." + name + ".pb.gz")
	if err != nil {
		panic(err)
	}
	pprof.Lookup(name).WriteTo(file, 0)
	file.Close()
}

func main() {
	turns, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	group.Add(threads)
	for i := 0; i < threads; i++ {
		go takes_turns(turns)
	}
	group.Wait()
	write("block")
	write("mutex")
}
