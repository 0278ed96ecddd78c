// SPDX-License-Identifier: BSD-3-Clause
//
// A WaitGroup used for three rounds of two workers.
//
// scenario: loop r=0..2 {wg.add 2; go W(r,1); go W(r,2); wg.wait; print round r}.
// W(r,i): print w r i; wg.done.

package main

import "sync"

func main() {
	var wg sync.WaitGroup
	for r := 0; r < 3; r++ {
		wg.Add(2)
		for i := 1; i <= 2; i++ {
			r, i := r, i
			go func() { p("w", r, i); wg.Done() }()
		}
		wg.Wait()
		p("round", r)
	}
	flush()
}
