// SPDX-License-Identifier: BSD-3-Clause
//
// sync.Pool on one P: the first value put is the private one, the others are a stack.
//
// scenario: pool; put 1..4; loop 5 {get: print v, empty}.

package main

import "sync"

func main() {
	var pool sync.Pool
	for i := 1; i <= 4; i++ {
		pool.Put(i)
	}
	for i := 0; i < 5; i++ {
		if v, ok := pool.Get().(int); ok {
			p("got", v)
		} else {
			p("empty")
		}
	}
	flush()
}
