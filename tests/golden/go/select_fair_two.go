// SPDX-License-Identifier: BSD-3-Clause
//
// Two ready cases of which one is a send: each is taken in 47 to 53 % of 20000 rounds.
//
// scenario: a (room 1) kept full, b (room 1) kept empty; loop 20000 {select {recv a:
// refill; send b: drain}}.

package main

func main() {
	const rounds = 20000
	a, b := make(chan int, 1), make(chan int, 1)
	recv, send := 0, 0
	a <- 1
	for r := 0; r < rounds; r++ {
		select {
		case <-a:
			recv++
			a <- 1
		case b <- 1:
			send++
			<-b
		}
	}
	share := recv * 100 / rounds
	p("within 47..53 %", share >= 47 && share <= 53)
	p("sum", recv+send)
	flush()
}
