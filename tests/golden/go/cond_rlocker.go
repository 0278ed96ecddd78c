// SPDX-License-Identifier: BSD-3-Clause
//
// A Cond over the RLocker of an RWMutex: waiters that are woken hold the lock together, and a writer
// waits for all of them.
//
// scenario: main: go W(1..3), sleep 1ms after each; lock rw; broadcast; unlock rw; sleep 1ms; lock rw;
// print wrote; unlock rw. W(i): rlock rw; cond.wait; print in i; sleep 4ms; print out i; runlock rw.

package main

import (
	"sync"
	"time"
)

func main() {
	var rw sync.RWMutex
	c := sync.NewCond(rw.RLocker())
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			rw.RLock()
			c.Wait()
			p("in", i)
			time.Sleep(4 * ms)
			p("out", i)
			rw.RUnlock()
		}()
		time.Sleep(ms)
	}
	rw.Lock()
	c.Broadcast()
	rw.Unlock()
	time.Sleep(ms)
	rw.Lock()
	p("wrote")
	rw.Unlock()
	p("end")
	flush()
}
