// SPDX-License-Identifier: BSD-3-Clause
//
// Start 257 goroutines, then block. The local ring holds 256 and runnext one more; an
// overflow moves half of the ring and the newcomer to the global queue, from which
// one is taken each time schedtick is a multiple of 61.
//
// scenario: schedtick is 1 in main. main: wg.add 257; go G(0..256); wg.wait. G(i): print i; wg.done.

package main

import "sync"

func main() {
	align()
	const n = 257
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		i := i
		go func() { p(i); wg.Done() }()
	}
	wg.Wait()
	p("end")
	flush()
}
