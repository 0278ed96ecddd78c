// SPDX-License-Identifier: BSD-3-Clause
//
// Four callers ask for the same thing: one does the work, the others wait for its
// channel.
//
// scenario: shared busy=0, result channel r. C(i): lock; if busy {unlock; recv r;
// print shared i} else {busy=1; unlock; print works i; sleep 2ms; close r}; wg.done.

package main

import (
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	var wg sync.WaitGroup
	var running chan bool
	wg.Add(4)
	for i := 1; i <= 4; i++ {
		i := i
		go func() {
			defer wg.Done()
			m.Lock()
			if running != nil {
				m.Unlock()
				<-running
				p("shared", i)
				return
			}
			running = make(chan bool)
			m.Unlock()
			p("works", i)
			time.Sleep(2 * ms)
			close(running)
			p("worked", i)
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
