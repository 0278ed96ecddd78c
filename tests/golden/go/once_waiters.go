// SPDX-License-Identifier: BSD-3-Clause
//
// Once: the others wait until the first caller's body, which sleeps, is finished.
//
// scenario: main: go G(1..4); wg.wait; print end. G(i): once {print body by i; sleep
// 2ms; print body done}; print after i; wg.done.

package main

import (
	"sync"
	"time"
)

func main() {
	var once sync.Once
	var wg sync.WaitGroup
	wg.Add(4)
	for i := 1; i <= 4; i++ {
		i := i
		go func() {
			once.Do(func() {
				p("body by", i)
				time.Sleep(2 * ms)
				p("body done")
			})
			p("after", i)
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
