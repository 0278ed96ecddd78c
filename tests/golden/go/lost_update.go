// SPDX-License-Identifier: BSD-3-Clause
//
// Plain read, yield, plain write: with three goroutines two of three updates are
// lost, always the same ones.
//
// scenario: v=0. G(i): loop 2 {x = load v; gosched; store v x+1; print g i wrote
// x+1}; wg.done. main: print v at the end.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	v := 0
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for n := 0; n < 2; n++ {
				x := v
				runtime.Gosched()
				v = x + 1
				p("g", i, "wrote", x+1)
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("v", v)
	flush()
}
