// SPDX-License-Identifier: BSD-3-Clause
//
// Runs out of runnext inherit the time slice and do not advance schedtick: a chain of
// 300 wake-ups through runnext does not bring the global queue's goroutine in.
//
// scenario: schedtick is 1 in main. main: go chain; gosched; print main after <n>. chain: two goroutines
// bounce 300 times over unbuffered channels counting n.

package main

import "runtime"

func main() {
	align()
	n := 0
	a, b := make(chan int), make(chan int)
	go func() {
		for range a {
			n++
			b <- 1
		}
		close(b)
	}()
	go func() {
		for i := 0; i < 300; i++ {
			n++
			a <- 1
			<-b
		}
		close(a)
	}()
	runtime.Gosched()
	p("main after", n)
	flush()
}
