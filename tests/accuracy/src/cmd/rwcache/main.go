// SPDX-License-Identifier: BSD-3-Clause

// rwcache: a cache behind an RWMutex; who misses sleeps as long as the database takes and writes
// the entry; an auditor with a ticker goes over all entries.
package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"accuracy/bench"
)

type cache struct {
	mu      sync.RWMutex
	entries map[uint64]uint64
	misses  int64
}

func (k *cache) get(key uint64) uint64 {
	k.mu.RLock()
	v, ok := k.entries[key]
	bench.Work(2)
	k.mu.RUnlock()
	if ok {
		return v
	}
	atomic.AddInt64(&k.misses, 1)
	time.Sleep(300 * time.Microsecond)
	v = bench.Work(8)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries[key] = v
	return v
}

func (k *cache) audit(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.mu.RLock()
			sum := uint64(0)
			for _, v := range k.entries {
				sum ^= v
			}
			bench.Sink ^= sum
			k.mu.RUnlock()
		}
	}
}

func main() {
	bench.Main("rwcache", bench.Config{Size: 6000, Conc: 12, DurUS: 20}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			ctx, cancel := context.WithCancel(ctx)
			k := &cache{entries: map[uint64]uint64{}}
			go k.audit(ctx)
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						bench.Work(bench.Vary(k.get(bench.Hash(c.Seed, i)%2000), i, c.DurUS))
					}
				}(g)
			}
			wg.Wait()
			cancel()
			return int64(c.Size)
		}}
	})
}
