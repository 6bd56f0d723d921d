// SPDX-License-Identifier: MIT

// http.go: a Go program with net/http/pprof, for test_http_contract.sh: prints the port, serves until its standard input
// ends.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var kept [][]byte

func wait(lock *sync.Mutex) {
	lock.Lock()
	lock.Unlock()
}

func main() {
	runtime.MemProfileRate = 1
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	kept = append(kept, make([]byte, 1<<20))
	pprof.NewProfile("example.com/custom").Add(&kept, 0)
	var lock sync.Mutex
	lock.Lock()
	go wait(&lock)
	time.Sleep(50 * time.Millisecond)
	lock.Unlock()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go http.Serve(listener, nil)
	io.Copy(io.Discard, os.Stdin)
}
