// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"sync"
)

type cache struct {
	mu   sync.RWMutex
	m    map[string]int
	once sync.Once
}

func (c *cache) init() { c.once.Do(func() { c.mu.Lock(); c.m = map[string]int{}; c.mu.Unlock() }) }
func (c *cache) get(k string) int {
	c.init()
	c.mu.RLock()
	v, ok := c.m[k]
	c.mu.RUnlock()
	if ok {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.m[k]; ok {
		return v
	}
	c.m[k] = len(k)
	return len(k)
}
func main() {
	c := &cache{}
	var wg sync.WaitGroup
	for i := 0; i < 5; i++ {
		wg.Add(1)
		go func(i int) { defer wg.Done(); c.get(fmt.Sprint(i % 2)) }(i)
	}
	wg.Wait()
}
