// SPDX-License-Identifier: MIT
//
// heap_cycles.go: what linked/heap_cycles.c does, by Go's own functions: those that its collector calls. They are not
// exported, so they are bound by their names (needs -ldflags=-checklinkname=0 from Go 1.23 on). Nobody collects here:
// the steps that are read from standard input say when a cycle ends.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"unsafe"
)

const sites = 8

//go:linkname nextCycle runtime.mProf_NextCycle
func nextCycle()

//go:linkname flush runtime.mProf_Flush
func flush()

//go:linkname postSweep runtime.mProf_PostSweep
func postSweep()

//go:linkname sweep runtime.mProf_Free
func sweep(of *bucket, size uintptr)

// What the runtime has for each stack and size; a stack of nstk words follows.
type bucket struct {
	next, allnext         *bucket
	kind                  int
	hash, size, stackSize uintptr
}

//go:linkname newest runtime.mbuckets
var newest *bucket

var kept [][]byte

// Size classes, so that a block is as large as it was asked for, and such that nobody else here asks for.
func sizeOf(site int) int {
	return [sites]int{1152, 1408, 1792, 2304, 2688, 3456, 4864, 6144}[site]
}

//go:noinline
func alloc(site int) {
	kept = append(kept, make([]byte, sizeOf(site)))
}

// The runtime allocates, too, in other threads, and may want any size.
func isOurs(stack []uintptr) bool {
	for _, pc := range stack {
		if f := runtime.FuncForPC(pc - 1); f != nil && f.Name() == "main.alloc" {
			return true
		}
	}
	return false
}

func bucketOf(site int) *bucket {
	for b := newest; b != nil; b = b.allnext {
		stack := unsafe.Slice((*uintptr)(unsafe.Add(unsafe.Pointer(b), unsafe.Sizeof(*b))), b.stackSize)
		if b.size == uintptr(sizeOf(site)) && isOurs(stack) {
			return b
		}
	}
	panic("no bucket")
}

type counts [sites][2]int64

var records [200]runtime.MemProfileRecord

func read() (seen counts) {
	n, ok := runtime.MemProfile(records[:], true)
	if !ok {
		panic("MemProfile")
	}
	for _, r := range records[:n] {
		for site := range seen {
			if r.AllocObjects > 0 && r.AllocBytes == r.AllocObjects*int64(sizeOf(site)) && isOurs(r.Stack()) {
				seen[site][0] += r.AllocObjects
				seen[site][1] += r.FreeObjects
			}
		}
	}
	return
}

type step struct {
	kind string
	site int
}

func readSteps() (steps []step) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		next := step{kind: words[0]}
		if len(words) > 1 {
			next.site, _ = strconv.Atoi(words[1])
		}
		steps = append(steps, next)
	}
	return
}

func main() {
	debug.SetGCPercent(-1)
	steps := readSteps()
	looks := make([]counts, 0, len(steps))
	kept = make([][]byte, 0, len(steps)+1)
	// Of what has been allocated until now there may be samples. With one more there are in any case; from now on there
	// is nothing but steps.
	runtime.MemProfileRate = 1
	kept = append(kept, make([]byte, 80))
	for _, next := range steps {
		switch next.kind {
		case "alloc":
			alloc(next.site)
		case "sweep":
			sweep(bucketOf(next.site), uintptr(sizeOf(next.site)))
		case "next":
			nextCycle()
		case "flush":
			flush()
		case "post_sweep":
			postSweep()
		case "read":
			looks = append(looks, read())
		}
	}
	for _, seen := range looks {
		for _, site := range seen {
			fmt.Printf("%d-%d ", site[0], site[1])
		}
		fmt.Println()
	}
}
