// SPDX-License-Identifier: BSD-3-Clause
//
// A channel with room for 2 as a semaphore for 5 workers that sleep inside.
//
// scenario: sem has room for 2. main: wg.add 5; go W(1..5); wg.wait; print end. W(i):
// send sem; print in i; sleep 5ms*i; print out i; recv sem; wg.done.

package main

import (
	"sync"
	"time"
)

func main() {
	sem := make(chan bool, 2)
	var wg sync.WaitGroup
	wg.Add(5)
	for i := 1; i <= 5; i++ {
		i := i
		go func() {
			sem <- true
			p("in", i)
			time.Sleep(time.Duration(i) * 5 * ms)
			p("out", i)
			<-sem
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
