// SPDX-License-Identifier: BSD-3-Clause

// lru: a cache of the last used values under one lock; a value that is not there is made outside.
package main

import (
	"container/list"
	"context"
	"sync"

	"accuracy/bench"
)

type entry struct{ key, value uint64 }

type cache struct {
	mu    sync.Mutex
	max   int
	order *list.List
	at    map[uint64]*list.Element
}

func (c *cache) get(key uint64) (uint64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.at[key]
	if !ok {
		return 0, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).value, true
}

func (c *cache) put(key, value uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.at[key]; ok {
		c.order.MoveToFront(e)
		return
	}
	c.at[key] = c.order.PushFront(&entry{key, value})
	for c.order.Len() > c.max {
		last := c.order.Back()
		delete(c.at, last.Value.(*entry).key)
		c.order.Remove(last)
	}
}

func main() {
	bench.Main("lru", bench.Config{Size: 60000, Conc: 8, DurUS: 12}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			all := &cache{max: 500, order: list.New(), at: map[uint64]*list.Element{}}
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						key := bench.Hash(c.Seed, i) % (1 + bench.Hash(c.Seed+1, i)%700)
						if _, ok := all.get(key); !ok {
							all.put(key, bench.Work(c.DurUS))
						}
					}
				}(g)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
