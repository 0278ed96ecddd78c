// SPDX-License-Identifier: BSD-3-Clause
//
// A writer waits for the active readers only; the last one to leave wakes it.
//
// scenario: main: rlock x3 by R(1..3) which hold it for 5ms*i; at 1ms W locks; R(i):
// rlock; print in i; sleep 5ms*i; print out i; runlock. W: sleep 1ms; lock; print w;
// unlock; done.

package main

import (
	"sync"
	"time"
)

func main() {
	var rw sync.RWMutex
	done := make(chan bool)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			rw.RLock()
			p("in", i)
			time.Sleep(time.Duration(i) * 5 * ms)
			p("out", i)
			rw.RUnlock()
		}()
	}
	go func() {
		time.Sleep(ms)
		rw.Lock()
		p("w")
		rw.Unlock()
		done <- true
	}()
	<-done
	p("end")
	flush()
}
