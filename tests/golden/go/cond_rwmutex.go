// SPDX-License-Identifier: BSD-3-Clause
//
// A Cond over an RWMutex itself: Wait gives up the write lock and takes it again, one waiter after the
// other.
//
// scenario: main: go W(1..3), sleep 1ms after each; rlock rw; broadcast; print reading; sleep 2ms; runlock
// rw; sleep 12ms; print end. W(i): lock rw; cond.wait; print in i; sleep 2ms; print out i; unlock rw.

package main

import (
	"sync"
	"time"
)

func main() {
	var rw sync.RWMutex
	c := sync.NewCond(&rw)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			rw.Lock()
			c.Wait()
			p("in", i)
			time.Sleep(2 * ms)
			p("out", i)
			rw.Unlock()
		}()
		time.Sleep(ms)
	}
	rw.RLock()
	c.Broadcast()
	p("reading")
	time.Sleep(2 * ms)
	rw.RUnlock()
	time.Sleep(12 * ms)
	p("end")
	flush()
}
