// SPDX-License-Identifier: BSD-3-Clause
//
// Five goroutines wait for one WaitGroup; the last one woken runs first.
//
// scenario: wg.add 1. main: go W(1..5), sleep 1ms after each; wg.done; print done;
// sleep 1ms; print end. W(i): wg.wait; print w i.

package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(1)
	for i := 1; i <= 5; i++ {
		i := i
		go func() { wg.Wait(); p("w", i) }()
		time.Sleep(ms)
	}
	wg.Done()
	p("done")
	time.Sleep(ms)
	p("end")
	flush()
}
