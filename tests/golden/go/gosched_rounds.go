// SPDX-License-Identifier: BSD-3-Clause
//
// Three goroutines call Gosched three times each: they take turns through the global
// queue.
//
// scenario: main: go G(1..3); wg.wait. G(i): loop r=0..3 {print g i round r;
// gosched}; wg.done.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for r := 0; r < 4; r++ {
				p("g", i, "round", r)
				runtime.Gosched()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
