// SPDX-License-Identifier: BSD-3-Clause
//
// A writer waits for a reader that never leaves, and a second reader waits behind the
// writer.
//
// scenario: main: rw.rlock; go {rw.lock}; gosched; go {rw.rlock}; gosched; print
// before; recv c.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var rw sync.RWMutex
	rw.RLock()
	go func() { rw.Lock() }()
	runtime.Gosched()
	go func() { rw.RLock() }()
	runtime.Gosched()
	p("before")
	flush()
	<-make(chan int)
}
