// SPDX-License-Identifier: BSD-3-Clause
//
// A parked select sits on all its channels; the first peer wins and the others are
// left as they were.
//
// scenario: main: go S; sleep 1ms; send b 2 ; print sent b; go X; sleep 1ms; recv a
// by main. S: select {recv a, recv b}: print which; X: send a 1; print sent a.

package main

import "time"

func main() {
	a, b := make(chan int), make(chan int)
	go func() {
		select {
		case v := <-a:
			p("select a", v)
		case v := <-b:
			p("select b", v)
		}
	}()
	time.Sleep(ms)
	b <- 2
	p("sent b")
	go func() { a <- 1; p("sent a") }()
	time.Sleep(ms)
	p("main got", <-a)
	time.Sleep(ms)
	p("end")
	flush()
}
