// SPDX-License-Identifier: MIT
//
// contention.go: what victims/contention.c does, in Go: the mutex profile to standard output.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

var (
	mutex, outer, inner sync.Mutex
	rwlock              sync.RWMutex
	arrived             int32
	group               sync.WaitGroup
	hold                = 100 * time.Millisecond
)

func untilArrived(count int32) {
	for atomic.LoadInt32(&arrived) != count {
		runtime.Gosched()
	}
	time.Sleep(hold)
}

//go:noinline
func waits_for_mutex() {
	atomic.AddInt32(&arrived, 1)
	mutex.Lock()
	mutex.Unlock()
	group.Done()
}

//go:noinline
func holds_mutex() {
	mutex.Lock()
	group.Add(1)
	go waits_for_mutex()
	untilArrived(1)
	mutex.Unlock()
	group.Wait()
}

//go:noinline
func holds_outer() {
	outer.Lock()
	atomic.AddInt32(&arrived, 1)
	inner.Lock()
	inner.Unlock()
	time.Sleep(hold)
	outer.Unlock()
	group.Done()
}

//go:noinline
func wants_outer() {
	atomic.AddInt32(&arrived, 1)
	outer.Lock()
	outer.Unlock()
	group.Done()
}

//go:noinline
func holds_inner() {
	inner.Lock()
	group.Add(2)
	go holds_outer()
	for atomic.LoadInt32(&arrived) != 1 {
		runtime.Gosched()
	}
	go wants_outer()
	untilArrived(2)
	inner.Unlock()
	group.Wait()
}

//go:noinline
func reads() {
	atomic.AddInt32(&arrived, 1)
	rwlock.RLock()
	rwlock.RUnlock()
	group.Done()
}

//go:noinline
func writes() {
	atomic.AddInt32(&arrived, 1)
	rwlock.Lock()
	rwlock.Unlock()
	group.Done()
}

//go:noinline
func holds_as_writer() {
	rwlock.Lock()
	group.Add(1)
	go reads()
	untilArrived(1)
	rwlock.Unlock()
	group.Wait()
}

//go:noinline
func holds_as_reader() {
	rwlock.RLock()
	group.Add(1)
	go writes()
	untilArrived(1)
	rwlock.RUnlock()
	group.Wait()
}

func main() {
	runtime.SetMutexProfileFraction(1)
	for _, part := range []func(){holds_mutex, holds_inner, holds_as_writer, holds_as_reader} {
		arrived = 0
		part()
	}
	pprof.Lookup("mutex").WriteTo(os.Stdout, 0)
}
