// SPDX-License-Identifier: BSD-3-Clause
//
// A token goes round a ring of five goroutines three times.
//
// scenario: G(i): recv c(i); loop 3 rounds {print g i round r; send c(i+1)}. main:
// send c(0); wait.

package main

import "sync"

func main() {
	var c [5]chan int
	var wg sync.WaitGroup
	for i := range c {
		c[i] = make(chan int, 1)
	}
	wg.Add(5)
	for i := range c {
		i := i
		go func() {
			for r := 0; r < 3; r++ {
				<-c[i]
				p("g", i, "round", r)
				c[(i+1)%5] <- 1
			}
			wg.Done()
		}()
	}
	c[0] <- 1
	wg.Wait()
	p("end")
	flush()
}
