// SPDX-License-Identifier: BSD-3-Clause
//
// CompareAndSwap loops of three goroutines that yield between load and swap: who
// fails how often.
//
// scenario: v=0. G(i): loop 3 {do {x = load v; gosched} while !cas(v, x, x+1), print
// g i set x+1 or g i retry}; wg.done. main: go G(1..3); wg.wait; print v.

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func main() {
	var v int64
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for n := 0; n < 3; n++ {
				for {
					x := atomic.LoadInt64(&v)
					runtime.Gosched()
					if atomic.CompareAndSwapInt64(&v, x, x+1) {
						p("g", i, "set", int(x+1))
						break
					}
					p("g", i, "retry")
				}
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("v", int(v))
	flush()
}
