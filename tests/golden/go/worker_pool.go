// SPDX-License-Identifier: BSD-3-Clause
//
// Three workers take ten jobs from an unbuffered channel.
//
// scenario: main: go W(1..3); loop j=0..9 {send jobs j}; close jobs; wg.wait; print
// end. W(i): range jobs: print worker i job j; wg.done.

package main

import "sync"

func main() {
	jobs := make(chan int)
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for j := range jobs {
				p("worker", i, "job", j)
			}
			p("worker", i, "ends")
			wg.Done()
		}()
	}
	for j := 0; j < 10; j++ {
		jobs <- j
	}
	close(jobs)
	wg.Wait()
	p("end")
	flush()
}
