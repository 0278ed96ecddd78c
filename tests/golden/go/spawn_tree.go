// SPDX-License-Identifier: BSD-3-Clause
//
// A binary tree of goroutines, depth 4: order of visits by the LIFO of runnext and
// the FIFO of the ring.
//
// scenario: node(n): print node n; if n<8 go node(2n); go node(2n+1); wg.done. main:
// wg.add 15; go node(1); wg.wait.

package main

import "sync"

var wg sync.WaitGroup

func node(n int) {
	p("node", n)
	if n < 8 {
		go node(2 * n)
		go node(2*n + 1)
	}
	wg.Done()
}

func main() {
	wg.Add(15)
	go node(1)
	wg.Wait()
	p("end")
	flush()
}
