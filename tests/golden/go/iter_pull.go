// SPDX-License-Identifier: BSD-3-Clause
//
// iter.Pull: generator and consumer switch directly, without a run queue; goroutines
// in the ring wait.
//
// scenario: main: go G; pull seq 1..3: {print want; next; print got v}; print end of
// sequence; gosched. seq: print make i; yield i. G: print g.
// releases: 1.23-

package main

import (
	"iter"
	"runtime"
)

func main() {
	seq := func(yield func(int) bool) {
		for i := 1; i <= 3; i++ {
			p("make", i)
			if !yield(i) {
				return
			}
		}
		p("generator ends")
	}
	go func() { p("g") }()
	next, stop := iter.Pull(iter.Seq[int](seq))
	for {
		p("want")
		v, ok := next()
		if !ok {
			break
		}
		p("got", v)
	}
	stop()
	p("end of sequence")
	runtime.Gosched()
	p("end")
	flush()
}
