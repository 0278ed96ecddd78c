// SPDX-License-Identifier: BSD-3-Clause
//
// Three philosophers with ordered forks eat twice each.
//
// scenario: forks = 3 mutexes. P(i): loop 2 {lock lower; gosched; lock higher; print
// eats i; gosched; unlock both}; wg.done.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var fork [3]sync.Mutex
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 0; i < 3; i++ {
		i := i
		lo, hi := i, (i+1)%3
		if lo > hi {
			lo, hi = hi, lo
		}
		go func() {
			for n := 0; n < 2; n++ {
				fork[lo].Lock()
				runtime.Gosched()
				fork[hi].Lock()
				p("eats", i)
				runtime.Gosched()
				fork[hi].Unlock()
				fork[lo].Unlock()
				p("thinks", i)
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
