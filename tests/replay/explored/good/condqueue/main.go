// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type q struct {
	mu     sync.Mutex
	c      *sync.Cond
	items  []int
	closed bool
}

func (x *q) put(v int) { x.mu.Lock(); x.items = append(x.items, v); x.mu.Unlock(); x.c.Signal() }
func (x *q) close()    { x.mu.Lock(); x.closed = true; x.mu.Unlock(); x.c.Broadcast() }
func (x *q) get() (int, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.items) == 0 && !x.closed {
		x.c.Wait()
	}
	if len(x.items) == 0 {
		return 0, false
	}
	v := x.items[0]
	x.items = x.items[1:]
	return v, true
}
func main() {
	x := &q{}
	x.c = sync.NewCond(&x.mu)
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				if _, ok := x.get(); !ok {
					return
				}
			}
		}()
	}
	for i := 0; i < 8; i++ {
		x.put(i)
		if i%3 == 0 {
			time.Sleep(200 * time.Microsecond)
		}
	}
	x.close()
	wg.Wait()
}
