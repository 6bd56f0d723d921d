// SPDX-License-Identifier: MIT
//
// beside.go CASE [FILE]: one case of linked/beside.c, as Go has it. Both print the same.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

// count: a profile in which the next value comes before the one before it goes.
func count() {
	const replacements = 200000
	profile := pprof.NewProfile("example.count")
	over := make(chan bool)
	profile.Add(0, 0)
	go func() {
		for i := 1; i <= replacements; i++ {
			profile.Add(i, 0)
			profile.Remove(i - 1)
		}
		close(over)
	}()
	outside := 0
	for running := true; running; {
		if n := profile.Count(); n < 1 || n > 2 {
			outside++
		}
		select {
		case <-over:
			running = false
		default:
		}
	}
	fmt.Printf("counts that are neither 1 nor 2: %d\n", outside)
	fmt.Printf("at the end: %d\n", profile.Count())
}

// rates: a wait while all are recorded, one while none is.
func rates() {
	wait := func() int64 {
		<-time.After(time.Millisecond)
		records := make([]runtime.BlockProfileRecord, 100)
		n, ok := runtime.BlockProfile(records)
		if !ok {
			panic("BlockProfile")
		}
		var count int64
		for _, r := range records[:n] {
			count += r.Count
		}
		return count
	}
	runtime.SetBlockProfileRate(1)
	fmt.Printf("recorded at rate 1: %d\n", wait())
	runtime.SetBlockProfileRate(-1)
	fmt.Printf("recorded in all, when off: %d\n", wait())
	runtime.SetBlockProfileRate(0)
	fmt.Printf("recorded in all, at rate 0: %d\n", wait())
	fmt.Printf("fraction before 3: %d\n", runtime.SetMutexProfileFraction(3))
	fmt.Printf("fraction read: %d\n", runtime.SetMutexProfileFraction(-1))
	fmt.Printf("fraction read again: %d\n", runtime.SetMutexProfileFraction(-5))
	fmt.Printf("fraction before it is off: %d\n", runtime.SetMutexProfileFraction(0))
	fmt.Printf("fraction when off: %d\n", runtime.SetMutexProfileFraction(-1))
}

// labels: sets of labels, some of whose values are empty; the profile of goroutines goes to the file.
func labels() {
	sets := [][]string{
		{"empty", ""}, {"empty", "", "k", "v"}, {"a", "1", "z", ""},
		{"quo\"te", "tab\t"}, {"twice", "1", "twice", ""},
	}
	end := make(chan bool)
	var ready sync.WaitGroup
	for _, set := range sets {
		set := set
		ready.Add(1)
		go pprof.Do(context.Background(), pprof.Labels(set...), func(context.Context) {
			ready.Done()
			<-end
		})
	}
	ready.Wait()
	var text bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&text, 1)
	var lines []string
	for _, line := range strings.Split(text.String(), "\n") {
		if strings.HasPrefix(line, "# labels: ") {
			lines = append(lines, line)
		}
	}
	sort.Strings(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	pprof.Lookup("goroutine").WriteTo(file, 0)
	close(end)
}

// printLabels: from a goroutine without any, since Go 1.19 shows none of the caller.
func printLabels(context.Context) {
	var text bytes.Buffer
	written := make(chan bool)
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		for stacks := make([]byte, 1<<16); !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "[chan receive"); {
			runtime.Gosched() // the caller is not there yet
		}
		pprof.Lookup("goroutine").WriteTo(&text, 1)
		close(written)
	}()
	<-written
	for _, line := range strings.Split(text.String(), "\n") {
		if strings.HasPrefix(line, "# labels: ") {
			fmt.Println(line)
		}
	}
}

// large: a long value in the place of another one, and many labels more.
func large() {
	as, bs := strings.Repeat("A", 20000), strings.Repeat("B", 20000)
	var many []string
	for i := 0; i < 10000; i++ {
		many = append(many, fmt.Sprintf("key%d", i*7%10000), "v")
	}
	pprof.Do(context.Background(), pprof.Labels("k", as, "o", "x"), func(ctx context.Context) {
		pprof.Do(ctx, pprof.Labels("k", bs), printLabels)
		pprof.Do(ctx, pprof.Labels(many...), printLabels)
		pprof.Do(ctx, pprof.Labels("k", bs, "k", "short"), printLabels)
	})
}

const garbageSize = 3456 // a size class

var kept [10]*[garbageSize]byte

//go:noinline
func makeGarbage() {
	for i := 0; i < 1000; i++ {
		kept[0] = new([garbageSize]byte)
	}
	kept[0] = nil
	for i := range kept {
		kept[i] = new([garbageSize]byte)
	}
}

func isIn(stack []uintptr, function string) bool {
	for _, pc := range stack {
		if f := runtime.FuncForPC(pc - 1); f != nil && f.Name() == function {
			return true
		}
	}
	return false
}

// collector: garbage, and a collection before the heap is written, as programs do it in Go.
func collector() {
	debug.SetGCPercent(-1)
	runtime.MemProfileRate = 1
	for i := 0; i < 3; i++ {
		makeGarbage()
		runtime.GC()
		var text bytes.Buffer
		pprof.Lookup("heap").WriteTo(&text, 1)
		for _, line := range strings.Split(text.String(), "\n") {
			if strings.HasPrefix(line, "# NumForcedGC") {
				fmt.Println(line)
			}
		}
		records := make([]runtime.MemProfileRecord, 10000)
		n, ok := runtime.MemProfile(records, true)
		if !ok {
			panic("MemProfile")
		}
		var allocated, inUse int64
		for _, r := range records[:n] {
			if r.AllocBytes == r.AllocObjects*garbageSize && isIn(r.Stack(), "main.makeGarbage") {
				allocated += r.AllocObjects
				inUse += r.InUseObjects()
			}
		}
		fmt.Printf("%d allocated, %d in use\n", allocated, inUse)
	}
}

const (
	blocks     = 1000
	blockBytes = 1024
)

var last []byte
var size = blockBytes

//go:noinline
func site_direct() {
	for i := 0; i < blocks; i++ {
		last = new([blockBytes]byte)[:]
	}
}

//go:noinline
func site_zeroed() {
	for i := 0; i < 2*blocks; i++ {
		last = make([]byte, size)
	}
}

//go:noinline
func site_grown() {
	for i := 0; i < 3*blocks; i++ {
		last = append([]byte(nil), last[:blockBytes]...)
	}
}

//go:noinline
func site_helper() {
	last = make([]byte, size)
}

//go:noinline
func site_helped() {
	for i := 0; i < 4*blocks; i++ {
		site_helper()
	}
}

func writeTo(path string, debug int) {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	pprof.Lookup("allocs").WriteTo(file, debug)
	file.Close()
}

// allocs: blocks of different functions; all that was allocated goes to the file, and as text to the one beside it.
func allocs() {
	debug.SetGCPercent(-1)
	runtime.MemProfileRate = 1
	site_direct()
	site_zeroed()
	site_grown()
	site_helped()
	runtime.GC()
	runtime.GC()
	writeTo(os.Args[2], 0)
	writeTo(os.Args[2]+".txt", 1)
}

// keptHeader: the header of a heap of which nothing that was recorded is dead.
func keptHeader() {
	debug.SetGCPercent(-1)
	runtime.MemProfileRate = 1
	kept[0] = new([garbageSize]byte)
	runtime.MemProfileRate = 0
	var text bytes.Buffer
	pprof.Lookup("heap").WriteTo(&text, 1)
	var inUse, allocated, objects int64
	if _, err := fmt.Sscanf(text.String(), "heap profile: %d: %d [%d: %d]", &objects, &inUse, &objects, &allocated); err != nil {
		panic(err)
	}
	some := "none"
	if inUse >= garbageSize {
		some = "some"
	}
	fmt.Printf("bytes in use: %s, allocated: %d more\n", some, allocated-inUse)
}

func main() {
	cases := map[string]func(){
		"allocs":    allocs,
		"collector": collector,
		"count":     count,
		"kept":      keptHeader,
		"labels":    labels,
		"large":     large,
		"rates":     rates,
	}
	cases[os.Args[1]]()
}
