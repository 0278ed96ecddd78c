// SPDX-License-Identifier: BSD-3-Clause
//
// Locked and unlocked goroutines mixed: start order 1..5, the even ones lock their
// thread and yield.
//
// scenario: main: go G(1..5); wg.wait; print end. G(i): if even lockosthread; print g
// i; gosched; print g i again; wg.done.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	wg.Add(5)
	for i := 1; i <= 5; i++ {
		i := i
		go func() {
			if i%2 == 0 {
				runtime.LockOSThread()
			}
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
