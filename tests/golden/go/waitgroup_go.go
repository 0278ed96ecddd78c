// SPDX-License-Identifier: BSD-3-Clause
//
// WaitGroup.Go starts a goroutine like go does.
//
// scenario: main: loop i=1..5 {wg.add 1; go {print g i; wg.done}}; wg.wait; print end.
// releases: 1.25-

package main

import "sync"

func main() {
	var wg sync.WaitGroup
	for i := 1; i <= 5; i++ {
		wg.Go(func() { p("g", i) })
	}
	wg.Wait()
	p("end")
	flush()
}
