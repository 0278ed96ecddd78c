// SPDX-License-Identifier: BSD-3-Clause
//
// Starving mode with three waiters: hand-offs follow the queue, a newcomer waits
// behind them, the last waiter ends the mode.
//
// scenario: main: lock; go W(1..3); gosched; cpu 3ms; unlock; lock (barges); gosched
// (W1 runs, becomes starving); go N; print unlock; unlock; print main; lock; print
// main locked; unlock; sleep 1ms; print end. W(i),N: lock; print; unlock.

package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var m sync.Mutex
	m.Lock()
	w := func(name string, i int) {
		m.Lock()
		p(name, i)
		m.Unlock()
		p(name, i, "unlocked")
	}
	for i := 1; i <= 3; i++ {
		go w("w", i)
	}
	runtime.Gosched()
	busy(3 * ms)
	m.Unlock()
	m.Lock()
	runtime.Gosched()
	go w("n", 0)
	p("unlock")
	m.Unlock()
	p("main")
	m.Lock()
	p("main locked")
	m.Unlock()
	time.Sleep(ms)
	p("end")
	flush()
}
