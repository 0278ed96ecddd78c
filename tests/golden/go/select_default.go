// SPDX-License-Identifier: BSD-3-Clause
//
// select with default never parks and never yields.
//
// scenario: main: go S; loop 3 {select {recv c: print got; default: print default}};
// gosched; select again; print end. S: send c (room 1).

package main

import "runtime"

func main() {
	c := make(chan int, 1)
	go func() { p("sender"); c <- 1 }()
	try := func() {
		select {
		case <-c:
			p("got")
		default:
			p("default")
		}
	}
	for i := 0; i < 3; i++ {
		try()
	}
	runtime.Gosched()
	try()
	try()
	p("end")
	flush()
}
