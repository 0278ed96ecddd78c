// SPDX-License-Identifier: BSD-3-Clause
//
// A generator that blocks on a channel parks the coroutine; the consumer waits with
// it while other goroutines run.
//
// scenario: main: pull seq over channel c; go sender; next x3, print; stop. seq:
// range c: yield v. sender: loop 1..3 {sleep 1ms; print send i; send c i}; close c.
// releases: 1.23-

package main

import (
	"iter"
	"time"
)

func main() {
	c := make(chan int)
	go func() {
		for i := 1; i <= 3; i++ {
			time.Sleep(ms)
			p("send", i)
			c <- i
		}
		close(c)
	}()
	next, stop := iter.Pull(func(yield func(int) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	})
	defer stop()
	for v, ok := next(); ok; v, ok = next() {
		p("got", v)
	}
	p("end")
	flush()
}
