// SPDX-License-Identifier: BSD-3-Clause
//
// sync.Pool and collections: one gives back all, from the private place and the queue's oldest on;
// what is put afterwards goes first; after two there is nothing.
//
// scenario: pool; put 1..300; gc; put 301, 302; loop until empty {get: print v}; print count; put
// 1..3; gc; gc; get: print.

package main

import (
	"runtime"
	"sync"
)

func main() {
	var pool sync.Pool
	for i := 1; i <= 300; i++ {
		pool.Put(i)
	}
	runtime.GC()
	pool.Put(301)
	pool.Put(302)
	n := 0
	for {
		v, ok := pool.Get().(int)
		if !ok {
			break
		}
		n++
		if n <= 20 || n > 290 {
			p("got", v)
		}
	}
	p("all", n)
	for i := 1; i <= 3; i++ {
		pool.Put(i)
	}
	runtime.GC()
	runtime.GC()
	_, ok := pool.Get().(int)
	p("still", ok)
	flush()
}
