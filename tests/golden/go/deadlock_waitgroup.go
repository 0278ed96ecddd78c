// SPDX-License-Identifier: BSD-3-Clause
//
// A WaitGroup with one Done missing; the workers are gone.
//
// scenario: main: wg.add 3; go G(1..2); gosched; print before; wg.wait. G(i): print g
// i; wg.done.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 1; i <= 2; i++ {
		i := i
		go func() { p("g", i); wg.Done() }()
	}
	runtime.Gosched()
	p("before")
	flush()
	wg.Wait()
}
