// SPDX-License-Identifier: BSD-3-Clause
//
// A sleeper that is woken by the timer check goes to runnext and runs before
// goroutines that were already in the ring.
//
// scenario: main: go S; gosched; go A; go B; cpu 3ms; print block; wg.wait. S: sleep
// 1ms; print s. A, B: print.

package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(3)
	go func() { time.Sleep(ms); p("s"); wg.Done() }()
	runtime.Gosched()
	go func() { p("a"); wg.Done() }()
	go func() { p("b"); wg.Done() }()
	busy(3 * ms)
	p("block")
	wg.Wait()
	p("end")
	flush()
}
