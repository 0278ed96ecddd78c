// SPDX-License-Identifier: BSD-3-Clause
//
// Three goroutines wait for each other in a ring of channels; main waits for all.
//
// scenario: G(i): recv c(i); send c(i+1). main: go G(0..2); gosched; print before;
// wg.wait.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var c [3]chan int
	var wg sync.WaitGroup
	for i := range c {
		c[i] = make(chan int)
	}
	wg.Add(3)
	for i := range c {
		i := i
		go func() { <-c[i]; c[(i+1)%3] <- 1; wg.Done() }()
	}
	runtime.Gosched()
	p("before")
	flush()
	wg.Wait()
}
