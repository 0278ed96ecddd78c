// SPDX-License-Identifier: BSD-3-Clause
//
// Sleeps of different length wake in order of their ends.
//
// scenario: main: go S(i) for i in 3,1,5,2,4; wg.wait; print end. S(i): sleep 10ms*i;
// print s i; wg.done.

package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(5)
	for _, i := range []int{3, 1, 5, 2, 4} {
		i := i
		go func() {
			time.Sleep(time.Duration(i) * 10 * ms)
			p("s", i)
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
