// SPDX-License-Identifier: BSD-3-Clause
//
// A reusable barrier of three from Mutex and Cond: the last to arrive wakes the
// others.
//
// scenario: G(i): loop r=0..2 {lock; n+=1; print g i arrives r; if n==3 {n=0;
// broadcast} else cond.wait; unlock; print g i leaves r}; wg.done.

package main

import "sync"

func main() {
	var m sync.Mutex
	c := sync.NewCond(&m)
	var wg sync.WaitGroup
	n := 0
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for r := 0; r < 3; r++ {
				m.Lock()
				p("g", i, "arrives", r)
				n++
				if n == 3 {
					n = 0
					c.Broadcast()
				} else {
					c.Wait()
				}
				m.Unlock()
				p("g", i, "leaves", r)
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
