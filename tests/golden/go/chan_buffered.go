// SPDX-License-Identifier: BSD-3-Clause
//
// Producer and consumer over a buffer of 3: who runs when the buffer is full or empty.
//
// scenario: c has room for 3. producer: loop 1..10 {send c i; print put i}; close c.
// main: go producer; range c: print got v; print end.

package main

func main() {
	c := make(chan int, 3)
	go func() {
		for i := 1; i <= 10; i++ {
			c <- i
			p("put", i)
		}
		close(c)
	}()
	for v := range c {
		p("got", v)
	}
	p("end")
	flush()
}
