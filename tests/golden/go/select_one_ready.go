// SPDX-License-Identifier: BSD-3-Clause
//
// select takes the only case that is ready, wherever it stands.
//
// scenario: a, b, c have room for 1. for each of a, b, c: send it 1; select {recv a,
// recv b, recv c}: print which.

package main

func main() {
	a, b, c := make(chan int, 1), make(chan int, 1), make(chan int, 1)
	for _, ch := range []chan int{a, b, c} {
		ch <- 1
		select {
		case <-a:
			p("a")
		case <-b:
			p("b")
		case <-c:
			p("c")
		}
	}
	flush()
}
