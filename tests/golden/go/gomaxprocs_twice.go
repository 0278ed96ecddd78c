// SPDX-License-Identifier: BSD-3-Clause
//
// runtime.GOMAXPROCS(n) returns the value from before it waits for its turn to stop
// the world, here for the end of a collection: two at once return the same.
//
// scenario: alloc 64 MB; go {gc}; gosched; go {A = gomaxprocs 2}; gosched;
// go {B = gomaxprocs 3}; gosched; wait for all; print A, B.

package main

import (
	"runtime"
	"sync"
)

type node struct {
	next *node
	pad  [7]int
}

func main() {
	var list *node
	for i := 0; i < 1<<20; i++ {
		list = &node{next: list}
	}
	var wg sync.WaitGroup
	var a, b int
	wg.Add(3)
	go func() { runtime.GC(); wg.Done() }()
	runtime.Gosched()
	go func() { a = runtime.GOMAXPROCS(2); wg.Done() }()
	runtime.Gosched()
	go func() { b = runtime.GOMAXPROCS(3); wg.Done() }()
	runtime.Gosched()
	wg.Wait()
	p(a, b)
	flush()
	runtime.KeepAlive(list)
}
