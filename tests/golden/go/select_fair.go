// SPDX-License-Identifier: BSD-3-Clause
//
// With all cases ready each is taken about equally often: 20000 rounds over 4
// channels, each share between 22 and 28 %.
//
// scenario: 4 channels with room for 1, kept full; loop 20000 {select over the 4;
// refill; count}. Print per channel whether the share lies within 22..28 %.

package main

func main() {
	const rounds = 20000
	var c [4]chan int
	var n [4]int
	for i := range c {
		c[i] = make(chan int, 1)
		c[i] <- i
	}
	for r := 0; r < rounds; r++ {
		var i int
		select {
		case i = <-c[0]:
		case i = <-c[1]:
		case i = <-c[2]:
		case i = <-c[3]:
		}
		n[i]++
		c[i] <- i
	}
	for i := range n {
		share := n[i] * 100 / rounds
		p("case", i, share >= 22 && share <= 28)
	}
	flush()
}
