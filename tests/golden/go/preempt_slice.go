// SPDX-License-Identifier: BSD-3-Clause
//
// A goroutine that computes for 60 ms loses the CPU after its slice: the others run
// before it ends.
//
// scenario: main: go O; go H; gosched; print main; wg.wait; print end. H: print hog
// begins; cpu 60ms; print hog ends; wg.done. O: print other; wg.done.

package main

import (
	"runtime"
	"sync"
)

func main() {
	wakeSysmon()
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { p("other"); wg.Done() }()
	go func() {
		p("hog begins")
		busy(60 * ms)
		p("hog ends")
		wg.Done()
	}()
	runtime.Gosched()
	p("main")
	wg.Wait()
	p("end")
	flush()
}
