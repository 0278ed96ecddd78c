// SPDX-License-Identifier: BSD-3-Clause

// flight: who asks for what somebody is making already waits for that, and does not make it again.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type call struct {
	wg    sync.WaitGroup
	value uint64
}

type flight struct {
	mu      sync.Mutex
	calls   map[uint64]*call
	fetched int64
}

func (f *flight) do(key uint64, fetch func() uint64) uint64 {
	f.mu.Lock()
	if c, ok := f.calls[key]; ok {
		f.mu.Unlock()
		c.wg.Wait()
		return c.value
	}
	c := new(call)
	c.wg.Add(1)
	f.calls[key] = c
	f.fetched++
	f.mu.Unlock()
	c.value = fetch()
	c.wg.Done()
	f.mu.Lock()
	delete(f.calls, key)
	f.mu.Unlock()
	return c.value
}

func main() {
	bench.Main("flight", bench.Config{Size: 2400, Conc: 12, DurUS: 25}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			f := &flight{calls: map[uint64]*call{}}
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						f.do(bench.Hash(c.Seed, i)%9, func() uint64 {
							time.Sleep(200 * time.Microsecond)
							return bench.Work(bench.Vary(c.Seed, i, 4*c.DurUS))
						})
						bench.Work(bench.Vary(c.Seed+1, i, c.DurUS))
					}
				}(g)
			}
			wg.Wait()
			return f.fetched
		}}
	})
}
