// SPDX-License-Identifier: BSD-3-Clause
//
// stop ends a generator at its yield; its deferred calls run before stop returns.
//
// scenario: pull seq; next; print; stop; print stopped; next: print ok=false. seq:
// defer print cleanup; loop yield.
// releases: 1.23-

package main

import "iter"

func main() {
	seq := func(yield func(int) bool) {
		defer p("cleanup")
		for i := 1; yield(i); i++ {
			p("again")
		}
		p("told to stop")
	}
	next, stop := iter.Pull(iter.Seq[int](seq))
	v, ok := next()
	p(v, ok)
	v, ok = next()
	p(v, ok)
	stop()
	p("stopped")
	v, ok = next()
	p(v, ok)
	flush()
}
