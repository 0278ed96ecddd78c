// SPDX-License-Identifier: BSD-3-Clause
//
// A waiter that waited more than 1 ms and loses again makes the mutex starving: the
// next unlock hands it over and yields.
//
// scenario: main: lock m; go W; cpu 3ms after gosched; unlock; print a; lock; print b
// (barged); gosched (W runs, fails, becomes starving); print c; unlock (hand-off: W
// runs at once); print d; lock; print e; unlock. W: lock m; print w; unlock m; print
// w unlocked.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var m sync.Mutex
	m.Lock()
	go func() {
		m.Lock()
		p("w")
		m.Unlock()
		p("w unlocked")
	}()
	runtime.Gosched()
	busy(3 * ms)
	m.Unlock()
	p("a")
	m.Lock()
	p("b")
	runtime.Gosched()
	p("c")
	m.Unlock()
	p("d")
	m.Lock()
	p("e")
	m.Unlock()
	p("end")
	flush()
}
