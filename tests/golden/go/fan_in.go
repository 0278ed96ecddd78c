// SPDX-License-Identifier: BSD-3-Clause
//
// Three producers write to one channel; a closer waits for them.
//
// scenario: P(i): loop k=0..2 {send c i*10+k; print sent}; wg.done. closer: wg.wait;
// close c. main: range c: print got v.

package main

import "sync"

func main() {
	c := make(chan int)
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for k := 0; k < 3; k++ {
				c <- i*10 + k
				p("sent", i, k)
			}
			wg.Done()
		}()
	}
	go func() { wg.Wait(); close(c) }()
	for v := range c {
		p("got", v)
	}
	p("end")
	flush()
}
