// SPDX-License-Identifier: BSD-3-Clause
//
// Values that are in the buffer survive the close.
//
// scenario: c has room for 3. main: send c 1..3; close c; loop 4 {recv c; print v
// ok}; range c; print end.

package main

func main() {
	c := make(chan int, 3)
	for i := 1; i <= 3; i++ {
		c <- i
	}
	close(c)
	for i := 0; i < 4; i++ {
		v, ok := <-c
		p(v, ok)
	}
	for range c {
		p("never")
	}
	p("end")
	flush()
}
