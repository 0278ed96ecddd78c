// SPDX-License-Identifier: BSD-3-Clause
//
// Goroutines that start goroutines: children displace each other in runnext.
//
// scenario: main: wg.add 6; go P(1); go P(2); wg.wait. P(i): print parent i; go
// C(i,1); go C(i,2); wg.done. C: print child i j; wg.done.

package main

import "sync"

func main() {
	var wg sync.WaitGroup
	wg.Add(6)
	for i := 1; i <= 2; i++ {
		i := i
		go func() {
			p("parent", i)
			for j := 1; j <= 2; j++ {
				j := j
				go func() { p("child", i, j); wg.Done() }()
			}
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
