// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type q struct {
	mu    sync.Mutex
	c     *sync.Cond
	ready bool
}

func main() {
	x := &q{}
	x.c = sync.NewCond(&x.mu)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		x.mu.Lock()
		for !x.ready {
			x.c.Wait()
		}
		x.mu.Unlock()
	}()
	time.Sleep(2 * time.Millisecond)
	x.ready = true
	x.c.Broadcast()
	wg.Wait()
}
