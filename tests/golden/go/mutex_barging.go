// SPDX-License-Identifier: BSD-3-Clause
//
// Normal mode: the owner that unlocks and locks again at once wins over the waiter it
// has woken.
//
// scenario: main: lock m; go W; gosched; loop 3 {unlock m; print unlock; lock m;
// print lock}; unlock m; gosched x3; print end. W: lock m; print w; unlock m.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var m sync.Mutex
	m.Lock()
	go func() { m.Lock(); p("w"); m.Unlock() }()
	runtime.Gosched()
	for i := 0; i < 3; i++ {
		m.Unlock()
		p("unlock")
		m.Lock()
		p("lock")
	}
	m.Unlock()
	for i := 0; i < 3; i++ {
		runtime.Gosched()
	}
	p("end")
	flush()
}
