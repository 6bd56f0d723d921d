// SPDX-License-Identifier: MIT
//
// count_order.go FILE: what e2e/count_order.c does, by Go's own function: the one that writes all profiles that
// count. It is not exported, so it is bound by its name (needs -ldflags=-checklinkname=0 from Go 1.23 on).
package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"reflect"
	"runtime/pprof"
	"strconv"
	"strings"
	"unsafe"
)

type labelMap struct{} // its own type, of which the address is all that is handed on

type countProfile interface {
	Len() int
	Stack(i int) []uintptr
	Label(i int) *labelMap
}

//go:linkname printCountProfile runtime/pprof.printCountProfile
func printCountProfile(w io.Writer, debug int, name string, p countProfile) error

//go:linkname currentLabels runtime/pprof.runtime_getProfLabel
func currentLabels() unsafe.Pointer

type thing struct {
	stack  []uintptr
	labels *labelMap
}

type things []thing

func (p things) Len() int              { return len(p) }
func (p things) Stack(i int) []uintptr { return p[i].stack }
func (p things) Label(i int) *labelMap { return p[i].labels }

// The linker sees nobody call them: whoever may call any method keeps them all.
var _ = reflect.TypeOf(things{}).Method(len(os.Args) % 3)

// labelsOf: the set as the runtime keeps it.
func labelsOf(pairs []string) *labelMap {
	if len(pairs) == 0 {
		return nil
	}
	var labels *labelMap
	pprof.Do(context.Background(), pprof.Labels(pairs...), func(context.Context) {
		labels = (*labelMap)(currentLabels())
	})
	return labels
}

func main() {
	var all things
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		count, err := strconv.Atoi(fields[0])
		if err != nil {
			panic(err)
		}
		var one thing
		for _, text := range strings.Fields(fields[1]) {
			pc, err := strconv.ParseUint(text, 0, 64)
			if err != nil {
				panic(err)
			}
			one.stack = append(one.stack, uintptr(pc))
		}
		one.labels = labelsOf(fields[2:])
		for ; count > 0; count-- {
			all = append(all, one)
		}
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	for debug, w := range []io.Writer{file, os.Stdout} {
		if err := printCountProfile(w, debug, "example.order", all); err != nil {
			panic(err)
		}
	}
}
