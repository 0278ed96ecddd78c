// SPDX-License-Identifier: BSD-3-Clause
//
// Writers queue at the inner mutex: three writers and two readers behind a writer
// that holds the lock.
//
// scenario: main: rw.lock; go W1, R1, W2, R2, W3 with sleep 1ms after each; print
// unlock; rw.unlock; sleep 2ms; print end. Each prints its name inside.

package main

import (
	"sync"
	"time"
)

func main() {
	var rw sync.RWMutex
	rw.Lock()
	w := func(i int) { rw.Lock(); p("w", i); rw.Unlock() }
	r := func(i int) { rw.RLock(); p("r", i); rw.RUnlock() }
	go w(1)
	time.Sleep(ms)
	go r(1)
	time.Sleep(ms)
	go w(2)
	time.Sleep(ms)
	go r(2)
	time.Sleep(ms)
	go w(3)
	time.Sleep(ms)
	p("unlock")
	rw.Unlock()
	time.Sleep(2 * ms)
	p("end")
	flush()
}
