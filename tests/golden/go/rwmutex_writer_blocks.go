// SPDX-License-Identifier: BSD-3-Clause
//
// A waiting writer keeps later readers out until it had its turn.
//
// scenario: main: rw.rlock; go W; sleep 1ms; go R(1..2), sleep 1ms; print runlock;
// rw.runlock; sleep 1ms; print end. W: rw.lock; print w; rw.unlock. R(i): rw.rlock;
// print r i; rw.runlock.

package main

import (
	"sync"
	"time"
)

func main() {
	var rw sync.RWMutex
	rw.RLock()
	go func() { rw.Lock(); p("w"); rw.Unlock() }()
	time.Sleep(ms)
	for i := 1; i <= 2; i++ {
		i := i
		go func() { rw.RLock(); p("r", i); rw.RUnlock() }()
		time.Sleep(ms)
	}
	p("runlock")
	rw.RUnlock()
	time.Sleep(ms)
	p("end")
	flush()
}
