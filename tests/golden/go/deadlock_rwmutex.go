// SPDX-License-Identifier: BSD-3-Clause
//
// A reader and a writer wait for an RWMutex that main holds; main waits for the
// WaitGroup.
//
// scenario: main: rw.lock; wg.add 2; go {rw.rlock; wg.done}; go {rw.lock; wg.done};
// gosched; print before; wg.wait.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var rw sync.RWMutex
	var wg sync.WaitGroup
	rw.Lock()
	wg.Add(2)
	go func() { rw.RLock(); wg.Done() }()
	go func() { rw.Lock(); wg.Done() }()
	runtime.Gosched()
	p("before")
	flush()
	wg.Wait()
}
