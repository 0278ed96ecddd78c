// SPDX-License-Identifier: BSD-3-Clause
//
// The prime sieve: a growing chain of filters over unbuffered channels.
//
// scenario: gen: loop 2.. {send c0 n}. main: loop 8 {recv prime from the chain's end;
// print; start a filter}.

package main

func filter(in <-chan int, out chan<- int, prime int) {
	for {
		n := <-in
		if n%prime != 0 {
			p("pass", prime, n)
			out <- n
		}
	}
}

func main() {
	c := make(chan int)
	go func(c chan<- int) {
		for n := 2; ; n++ {
			c <- n
		}
	}(c)
	for i := 0; i < 8; i++ {
		prime := <-c
		p("prime", prime)
		next := make(chan int)
		go filter(c, next, prime)
		c = next
	}
	flush()
}
