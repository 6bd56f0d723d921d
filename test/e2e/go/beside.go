// SPDX-License-Identifier: MIT
//
// beside.go CASE: one case of linked/beside.c, as Go has it. Both print the same.
package main

import (
	"fmt"
	"os"
	"runtime/pprof"
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

func main() {
	cases := map[string]func(){
		"count": count,
	}
	cases[os.Args[1]]()
}
