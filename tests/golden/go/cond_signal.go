// SPDX-License-Identifier: BSD-3-Clause
//
// Cond.Signal wakes waiters first come, first served; each wake displaces the one
// before in runnext.
//
// scenario: main: go W(1..3), sleep 1ms after each; loop 3 {cond.signal}; print
// signalled; sleep 1ms; print end. W(i): lock m; cond.wait; print w i; unlock m.

package main

import (
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	c := sync.NewCond(&m)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			m.Lock()
			c.Wait()
			p("w", i)
			m.Unlock()
		}()
		time.Sleep(ms)
	}
	for i := 0; i < 3; i++ {
		c.Signal()
	}
	p("signalled")
	time.Sleep(ms)
	p("end")
	flush()
}
