// SPDX-License-Identifier: MIT
//
// http_target.go: http_target.c in Go: a thousand goroutines that wait, ten thousand stacks that have allocated a block.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"time"
)

const (
	goroutines      = 1000
	places          = 50
	goroutineFrames = 8
	stacks          = 10000
	stackFrames     = 20
	leastBytes      = 64
	sizes           = 100
	sizeStep        = 16
	lifetime        = 10 * time.Minute
)

var (
	begun = make(chan bool)
	kept  [][]byte
	sink  int
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
func keepBlock() { kept = append(kept, make([]byte, leastBytes+len(kept)%sizes*sizeStep)) }

//go:noinline
func waitHere() {
	begun <- true
	select {}
}

func main() {
	usual := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	for i := 0; i < goroutines; i++ {
		go descend(i%places, goroutineFrames, waitHere)
	}
	for i := 0; i < goroutines; i++ {
		<-begun
	}
	kept = make([][]byte, 0, stacks)
	for i := 0; i < stacks; i++ {
		descend(i, stackFrames, keepBlock)
	}
	runtime.MemProfileRate = usual // what the server allocates is not the question
	runtime.GC()                   // what was allocated is in the profile after two cycles
	runtime.GC()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(listener, nil)
	fmt.Println(os.Getpid(), listener.Addr().(*net.TCPAddr).Port)
	time.Sleep(lifetime)
	runtime.KeepAlive(kept)
}
