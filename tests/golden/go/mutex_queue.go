// SPDX-License-Identifier: BSD-3-Clause
//
// Waiters of a mutex get it first come, first served when the owner leaves the CPU
// after unlocking.
//
// scenario: main: lock m; go W(1..5), sleep 100us after each; unlock m; print
// unlocked; sleep 1ms; print end. W(i): lock m; print w i; unlock m.

package main

import (
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	m.Lock()
	for i := 1; i <= 5; i++ {
		i := i
		go func() { m.Lock(); p("w", i); m.Unlock() }()
	}
	time.Sleep(100 * time.Microsecond)
	m.Unlock()
	p("unlocked")
	time.Sleep(ms)
	p("end")
	flush()
}
