// SPDX-License-Identifier: BSD-3-Clause
//
// A writer's Unlock wakes the waiting readers 1..5 as 5, 1, 2, 3, 4.
//
// scenario: main: rw.lock; go R(1..5), sleep 1ms after each; rw.unlock; print
// unlocked; sleep 1ms; print end. R(i): rw.rlock; print r i; rw.runlock.

package main

import (
	"sync"
	"time"
)

func main() {
	var rw sync.RWMutex
	rw.Lock()
	for i := 1; i <= 5; i++ {
		i := i
		go func() { rw.RLock(); p("r", i); rw.RUnlock() }()
		time.Sleep(ms)
	}
	rw.Unlock()
	p("unlocked")
	time.Sleep(ms)
	p("end")
	flush()
}
