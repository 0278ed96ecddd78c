// SPDX-License-Identifier: BSD-3-Clause
//
// Broadcast while holding the mutex: the woken waiters queue up at the mutex and get
// it in that order.
//
// scenario: as cond_broadcast, but main holds m around broadcast, print and a
// gosched, then unlocks.

package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	c := sync.NewCond(&m)
	for i := 1; i <= 5; i++ {
		i := i
		go func() {
			m.Lock()
			c.Wait()
			p("w", i)
			m.Unlock()
		}()
		time.Sleep(ms)
	}
	m.Lock()
	c.Broadcast()
	runtime.Gosched()
	p("unlock")
	m.Unlock()
	p("unlocked")
	time.Sleep(ms)
	p("end")
	flush()
}
