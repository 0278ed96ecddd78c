// SPDX-License-Identifier: BSD-3-Clause
//
// Two goroutines lock two mutexes in opposite order; main waits for both. Wait
// reasons: up to 1.19 all semacquire, since 1.20 mutexes and since 1.24 WaitGroups
// have their own.
//
// scenario: main: wg.add 2; go AB; go BA; wg.wait. AB: lock a; gosched; lock b. BA:
// lock b; gosched; lock a.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		a.Lock()
		p("a")
		runtime.Gosched()
		flush()
		b.Lock()
		wg.Done()
	}()
	go func() { b.Lock(); p("b"); runtime.Gosched(); a.Lock(); wg.Done() }()
	wg.Wait()
}
