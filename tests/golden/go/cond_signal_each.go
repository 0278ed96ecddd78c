// SPDX-License-Identifier: BSD-3-Clause
//
// Signal, then let it run: strict first come, first served.
//
// scenario: as cond_signal, with sleep 1ms after each signal.

package main

import (
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	c := sync.NewCond(&m)
	for i := 1; i <= 4; i++ {
		i := i
		go func() {
			m.Lock()
			c.Wait()
			p("w", i)
			m.Unlock()
		}()
		time.Sleep(ms)
	}
	for i := 1; i <= 5; i++ {
		p("signal", i)
		c.Signal()
		time.Sleep(ms)
	}
	p("end")
	flush()
}
