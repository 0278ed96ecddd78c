// SPDX-License-Identifier: BSD-3-Clause
//
// Five Sleeps that are all overdue at one check: 5, 1, 2, 3, 4, because each wake
// displaces the one before from runnext.
//
// scenario: main: go S(1..5); gosched; cpu 7ms; print busy over; wg.wait. S(i): sleep
// 1ms*i; print s i; wg.done.

package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(5)
	for i := 1; i <= 5; i++ {
		i := i
		go func() {
			time.Sleep(time.Duration(i) * ms)
			p("s", i)
			wg.Done()
		}()
	}
	runtime.Gosched()
	busy(7 * ms)
	p("busy over")
	wg.Wait()
	p("end")
	flush()
}
