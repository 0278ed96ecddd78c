// SPDX-License-Identifier: BSD-3-Clause
//
// Timer channels with a goroutine waiting on each, all overdue at one check.
//
// scenario: main: t(i)=timer 1ms*i; go W(1..5); gosched; cpu 7ms; print busy over;
// wg.wait. W(i): recv t(i).C; print w i; wg.done.

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
		t := time.NewTimer(time.Duration(i) * ms)
		go func() { <-t.C; p("w", i); wg.Done() }()
	}
	runtime.Gosched()
	busy(7 * ms)
	p("busy over")
	wg.Wait()
	p("end")
	flush()
}
