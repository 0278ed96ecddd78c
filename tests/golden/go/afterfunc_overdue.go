// SPDX-License-Identifier: BSD-3-Clause
//
// Five AfterFuncs that are all overdue at one check start five goroutines: 5, 1, 2,
// 3, 4.
//
// scenario: main: afterfunc(1ms*i){print f i; wg.done} for i=1..5; cpu 7ms; print
// busy over; wg.wait; print end.

package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(5)
	for i := 1; i <= 5; i++ {
		i := i
		time.AfterFunc(time.Duration(i)*ms, func() { p("f", i); wg.Done() })
	}
	busy(7 * ms)
	p("busy over")
	wg.Wait()
	p("end")
	flush()
}
