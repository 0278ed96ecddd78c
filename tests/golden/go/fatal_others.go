// SPDX-License-Identifier: BSD-3-Clause
//
// A fatal error of the program's own making shows the goroutine that made it and, up to
// 1.25, all others in the order of their creation.
//
// scenario: main: go recv c; go gosched for ever; go lock m twice; gosched; go nothing; unlock of
// an unlocked mutex.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var m, unlocked sync.Mutex
	c := make(chan int)
	go func() { <-c }()
	go func() {
		for {
			runtime.Gosched()
		}
	}()
	go func() {
		m.Lock()
		m.Lock()
	}()
	runtime.Gosched()
	go func() {}()
	unlocked.Unlock()
}
