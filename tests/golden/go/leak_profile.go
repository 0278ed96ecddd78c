// SPDX-License-Identifier: BSD-3-Clause
//
// The goroutine leak profile counts who waits for something that nobody can reach.
//
// scenario: go {recv lost}; go {lock m; lock m}; go {wg.wait, never done}; go {select {}};
// go {recv kept, send chained}; go {recv chained}; sleep; print leaks; send kept; sleep;
// print leaks; go {send lost2}; sleep; print leaks.
//
// releases: 1.27-

package main

import (
	"io"
	"runtime/pprof"
	"sync"
	"time"
)

// Not a bare Mutex: that shares a block of the tiny allocator with whatever else is in it, which
// keeps it alive.
type lock struct {
	sync.Mutex
	_ [4]*int
}

func leaks() int {
	profile := pprof.Lookup("goroutineleak")
	profile.WriteTo(io.Discard, 1)
	return profile.Count()
}

//go:noinline
func leak() {
	lost := make(chan int)
	go func() { <-lost }()
	go func() { m := new(lock); m.Lock(); m.Lock() }()
	go func() { var wg sync.WaitGroup; wg.Add(1); wg.Wait() }()
	go func() { select {} }()
}

//go:noinline
func leakOne() {
	lost := make(chan int)
	go func() { lost <- 1 }()
}

func main() {
	leak()
	kept, chained := make(chan int), make(chan int)
	go func() { <-kept; chained <- 1 }()
	go func() { <-chained }()
	time.Sleep(2 * time.Millisecond)
	p(leaks())
	kept <- 1
	time.Sleep(2 * time.Millisecond)
	p(leaks())
	leakOne()
	time.Sleep(2 * time.Millisecond)
	p(leaks())
	flush()
}
