// SPDX-License-Identifier: MIT
//
// traced.go: blocks that are swept, for GODEBUG=allocfreetrace=1 (until Go 1.20).
package main

import "runtime"

type small [100]byte
type large [1 << 20]byte

var kept []*small

func main() {
	for i := 0; i < 100; i++ {
		kept = append(kept, new(small))
		kept[0] = (*small)((new(large))[:100])
	}
	kept = nil
	runtime.GC()
	runtime.GC()
}
