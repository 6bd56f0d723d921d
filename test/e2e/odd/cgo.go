// SPDX-License-Identifier: MIT
//
// cgo.go: 64 goroutines that recurse, so that their small stacks are moved, start others, and call into C, which calls
// back. With cgo, Go's signals go through libc, and its goroutines run on stacks of a few KiB.
package main

/*
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint64_t goBack(uint64_t value);

static uint64_t in_c(uint64_t value, unsigned depth)
{
	volatile uint64_t here = value;
	if (depth > 0) {
		return in_c(here + depth, depth - 1);
	}
	char *block = malloc(200 + value % 1000);
	memset(block, 1, 200);
	for (unsigned i = 0; i < 2000; i++) {
		here = here * 6364136223846793005u + 1442695040888963407u;
	}
	here += (uint64_t)block[100];
	free(block);
	return here;
}

static uint64_t call_back(uint64_t value)
{
	return goBack(value) + 1;
}
*/
import "C"

import (
	"fmt"
	"sync"
)

//export goBack
func goBack(value C.uint64_t) C.uint64_t {
	return C.uint64_t(recurse(uint64(value), 20))
}

//go:noinline
func recurse(value uint64, depth int) uint64 {
	var room [10]uint64
	room[depth%10] = value
	if depth == 0 {
		return value*3 + 1
	}
	return recurse(value+uint64(depth), depth-1) + room[depth%10]&1
}

// On the smallest of stacks, next to those of others.
func small(number uint64, sum *uint64, group *sync.WaitGroup) {
	defer group.Done()
	for i := 0; i < 400; i++ {
		*sum += recurse(number+uint64(i), int(number+uint64(i))%12)
	}
}

func work(number uint64, generation int, sums []uint64, group *sync.WaitGroup) {
	defer group.Done()
	sum := number
	for i := 0; i < 8; i++ {
		sum += recurse(sum&1023, 50+int(number+uint64(i)*97)%400)
		sum += uint64(C.in_c(C.uint64_t(sum), 20))
		sum += uint64(C.call_back(C.uint64_t(sum)))
	}
	var few sync.WaitGroup
	var more [16]uint64
	for i := range more {
		few.Add(1)
		go small(number+uint64(i), &more[i], &few)
	}
	few.Wait()
	for _, value := range more {
		sum += value
	}
	sums[generation] = sum
	if generation+1 < len(sums) {
		group.Add(1)
		go work(number+1, generation+1, sums, group)
	}
}

func main() {
	const goroutines, generations = 64, 25
	var group sync.WaitGroup
	var sums [goroutines][generations]uint64
	for i := range sums {
		group.Add(1)
		go work(uint64(i), 0, sums[i][:], &group)
	}
	group.Wait()
	var sum uint64
	for i := range sums {
		for _, value := range sums[i] {
			sum = sum*31 + value
		}
	}
	fmt.Println(sum)
	C.exit(42) // as os.Exit, but libc knows of it
}
