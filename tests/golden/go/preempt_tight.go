// SPDX-License-Identifier: BSD-3-Clause
//
// With asynchronous preemption a loop without calls is interrupted in the middle.
//
// scenario: ended=0. main: go O; go H; gosched; print main; wg.wait; print end. H:
// print hog begins; cpu 60ms (tight loop); store ended 1 (no safe point in between);
// print hog ends; wg.done. O: print ended; wg.done.

package main

import (
	"runtime"
	"sync"
)

var sum, ended int

//go:noinline
func tight(n int) {
	x := 1
	for i := 0; i < n; i++ {
		x = x*31 + i
	}
	sum = x
	ended = 1
}

func main() {
	var wg sync.WaitGroup
	wakeSysmon()
	wg.Add(2)
	go func() { p("other, loop ended", ended); wg.Done() }()
	go func() {
		p("hog begins")
		tight(100000000)
		p("hog ends")
		wg.Done()
	}()
	runtime.Gosched()
	p("main")
	wg.Wait()
	p("end")
	flush()
}
