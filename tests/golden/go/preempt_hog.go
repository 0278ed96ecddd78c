// SPDX-License-Identifier: BSD-3-Clause
//
// A goroutine that spins without a call is preempted by signal, so the others go on
// (1.14 and newer).
//
// scenario: main: go H; gosched; print main runs; store flag 1; recv done; print end.
// H: spin (tight loop) until flag != 0; print hog ends; send done.

package main

import (
	"runtime"
	"sync/atomic"
)

func main() {
	wakeSysmon()
	var flag int32
	done := make(chan bool)
	go func() {
		for atomic.LoadInt32(&flag) == 0 {
		}
		p("hog ends")
		done <- true
	}()
	runtime.Gosched()
	p("main runs")
	atomic.StoreInt32(&flag, 1)
	<-done
	p("end")
	flush()
}
