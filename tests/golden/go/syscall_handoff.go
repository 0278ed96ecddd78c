// SPDX-License-Identifier: BSD-3-Clause
//
// A goroutine in a blocking system call of 40 ms loses its P: the others run
// meanwhile, and it comes back by way of an idle P.
//
// scenario: main: go S; gosched; print main runs; sleep 5ms; print main again; recv
// done; print end. S: print in; syscall blocking 40ms; print out; send done.

package main

import (
	"runtime"
	"syscall"
	"time"
)

func main() {
	done := make(chan bool)
	go func() {
		p("in")
		ts := syscall.NsecToTimespec(int64(40 * ms))
		syscall.Nanosleep(&ts, nil)
		p("out")
		done <- true
	}()
	runtime.Gosched()
	p("main runs")
	time.Sleep(5 * ms)
	p("main again")
	<-done
	p("end")
	flush()
}
