// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type cache struct{ a, b sync.RWMutex }

func (c *cache) get() { c.a.RLock(); defer c.a.RUnlock(); c.b.RLock(); c.b.RUnlock() }
func (c *cache) set() { c.b.Lock(); defer c.b.Unlock(); c.a.Lock(); c.a.Unlock() }
func main() {
	c := &cache{}
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < 3; k++ {
				c.get()
			}
		}()
	}
	time.Sleep(time.Millisecond)
	wg.Add(1)
	go func() { defer wg.Done(); c.set() }()
	wg.Wait()
}
