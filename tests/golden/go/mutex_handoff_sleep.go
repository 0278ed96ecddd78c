// SPDX-License-Identifier: BSD-3-Clause
//
// Two goroutines work under one mutex and sleep inside it: with sleeps over 1 ms
// starving mode makes them alternate.
//
// scenario: main: go G(1); go G(2); wg.wait. G(i): loop r=0..3 {lock; print g i round
// r; sleep 2ms; unlock}; wg.done.

package main

import (
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	var wg sync.WaitGroup
	wg.Add(2)
	for i := 1; i <= 2; i++ {
		i := i
		go func() {
			for r := 0; r < 4; r++ {
				m.Lock()
				p("g", i, "round", r)
				time.Sleep(2 * ms)
				m.Unlock()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
