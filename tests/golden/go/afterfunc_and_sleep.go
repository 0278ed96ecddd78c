// SPDX-License-Identifier: BSD-3-Clause
//
// Sleeps and AfterFuncs overdue together are handled in order of time, whatever their
// kind.
//
// scenario: main: go S(1),S(3),S(5) with sleeps 1,3,5ms; gosched; afterfunc 2ms, 4ms;
// cpu 8ms; wg.wait.

package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(5)
	for i := 1; i <= 5; i += 2 {
		i := i
		go func() { time.Sleep(time.Duration(i) * ms); p("sleep", i); wg.Done() }()
	}
	runtime.Gosched()
	for i := 2; i <= 4; i += 2 {
		i := i
		time.AfterFunc(time.Duration(i)*ms, func() { p("func", i); wg.Done() })
	}
	busy(8 * ms)
	p("busy over")
	wg.Wait()
	p("end")
	flush()
}
