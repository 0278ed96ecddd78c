// SPDX-License-Identifier: BSD-3-Clause
//
// A pipeline of three stages over unbuffered channels.
//
// scenario: gen: loop 1..4 {print gen i; send a i}; close a. sq: range a: print sq v;
// send b v*v; close b. main: go gen; go sq; range b: print out v.

package main

func main() {
	a, b := make(chan int), make(chan int)
	go func() {
		for i := 1; i <= 4; i++ {
			p("gen", i)
			a <- i
		}
		close(a)
	}()
	go func() {
		for v := range a {
			p("sq", v)
			b <- v * v
		}
		close(b)
	}()
	for v := range b {
		p("out", v)
	}
	p("end")
	flush()
}
