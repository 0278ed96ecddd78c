// SPDX-License-Identifier: BSD-3-Clause
//
// A consumer ranges over a channel that is never closed.
//
// scenario: main: go producer; range c: print got v. producer: loop 1..3 {send c i}.
// exit: 2

package main

func main() {
	c := make(chan int)
	go func() {
		for i := 1; i <= 3; i++ {
			c <- i
		}
	}()
	for v := range c {
		p("got", v)
		flush()
	}
}
