// SPDX-License-Identifier: BSD-3-Clause
//
// Goroutines that are blocked for ever do not stop main from ending.
//
// scenario: main: go {recv c}; go {lock m (held)}; gosched; print end.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var m sync.Mutex
	m.Lock()
	go func() { p("blocks on c"); <-make(chan int) }()
	go func() { p("blocks on m"); m.Lock() }()
	runtime.Gosched()
	p("end")
	flush()
}
