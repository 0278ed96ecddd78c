// SPDX-License-Identifier: BSD-3-Clause
//
// Cond.Broadcast readies the waiters in order, so the last one sits in runnext: 5, 1,
// 2, 3, 4.
//
// scenario: main: go W(1..5), sleep 1ms after each; broadcast; print broadcast; sleep
// 1ms; print end. W(i): lock m; cond.wait; print w i; unlock m.

package main

import (
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
	c.Broadcast()
	p("broadcast")
	time.Sleep(ms)
	p("end")
	flush()
}
