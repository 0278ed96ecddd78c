// SPDX-License-Identifier: BSD-3-Clause
//
// A goroutine that ends while locked to its thread takes the thread with it; the
// others go on.
//
// scenario: main: go L; go G(1..2); wg.wait; print end. L: lockosthread; print
// locked; gosched; print locked ends; wg.done. G(i): print g i; gosched; print g i
// again; wg.done.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(3)
	go func() {
		runtime.LockOSThread()
		p("locked")
		runtime.Gosched()
		p("locked ends")
		wg.Done()
	}()
	for i := 1; i <= 2; i++ {
		i := i
		go func() {
			p("g", i)
			runtime.Gosched()
			p("g", i, "again")
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
