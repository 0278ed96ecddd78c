// SPDX-License-Identifier: BSD-3-Clause
//
// What the benchmarks do; bench/programs.h has the same programs for the simulator.

package main

import (
	"runtime"
	"sync"
	"time"
)

// pair bounces a token hops times between two goroutines.
func pair(hops int, done func()) {
	ping, pong := make(chan bool), make(chan bool)
	go func() {
		for range ping {
			pong <- true
		}
	}()
	go func() {
		for i := 0; i < hops; i += 2 {
			ping <- true
			<-pong
		}
		close(ping)
		done()
	}()
}

func pingpong(ops int) {
	var wg sync.WaitGroup
	wg.Add(1)
	pair(ops, wg.Done)
	wg.Wait()
}

func pingpong32(ops int) {
	var wg sync.WaitGroup
	wg.Add(32)
	for i := 0; i < 32; i++ {
		pair(ops/32, wg.Done)
	}
	wg.Wait()
}

func gosched(goroutines int) func(int) {
	return func(ops int) {
		var wg sync.WaitGroup
		each := (ops + goroutines - 1) / goroutines
		wg.Add(goroutines)
		for i := 0; i < goroutines; i++ {
			go func() {
				for n := 0; n < each; n++ {
					runtime.Gosched()
				}
				wg.Done()
			}()
		}
		wg.Wait()
	}
}

func spawnExit(ops int) {
	done := make(chan bool)
	for i := 0; i < ops; i++ {
		go func() { done <- true }()
		<-done
	}
}

func fanout(ops int) {
	for ; ops > 0; ops -= 10000 {
		var wg sync.WaitGroup
		wg.Add(10000)
		for i := 0; i < 10000; i++ {
			go wg.Done()
		}
		wg.Wait()
	}
}

func workerPool(ops int) {
	jobs := make(chan int, 128)
	var wg sync.WaitGroup
	wg.Add(8)
	for i := 0; i < 8; i++ {
		go func() {
			for range jobs {
			}
			wg.Done()
		}()
	}
	for i := 0; i < ops; i++ {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
}

// mutexHandoff makes every lock but the first find the mutex taken.
func mutexHandoff(ops int) {
	var m sync.Mutex
	var wg sync.WaitGroup
	wg.Add(2)
	for i := 0; i < 2; i++ {
		go func() {
			for n := 0; n < ops/2; n++ {
				m.Lock()
				runtime.Gosched()
				m.Unlock()
			}
			wg.Done()
		}()
	}
	wg.Wait()
}

func sleepStorm(ops int) {
	const goroutines = 10000
	var wg sync.WaitGroup
	wg.Add(goroutines)
	for i := 0; i < goroutines; i++ {
		go func() {
			for n := 0; n < (ops+goroutines-1)/goroutines; n++ {
				time.Sleep(time.Millisecond)
			}
			wg.Done()
		}()
	}
	wg.Wait()
}

var sink [64]int

// stealStorm starts bursts of 200 short goroutines on one P; all others steal.
func stealStorm(ops int) {
	const burst = 200
	for ; ops > 0; ops -= burst {
		var wg sync.WaitGroup
		wg.Add(burst)
		for i := 0; i < burst; i++ {
			go func() {
				x := 0
				for n := 0; n < 200; n++ {
					x += n ^ x
				}
				if x == 1 {
					sink[0] = x
				}
				wg.Done()
			}()
		}
		wg.Wait()
	}
}
