// SPDX-License-Identifier: BSD-3-Clause

// rwmutex: Conc goroutines read a table under a RWMutex; one operation in eight writes.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("rwmutex", bench.Config{Size: 8000, Conc: 8, DurUS: 8}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var mu sync.RWMutex
			var table [64]uint64
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go user(c, g, &mu, &table, &wg)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}

func user(c *bench.Config, g int, mu *sync.RWMutex, table *[64]uint64, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := g; i < c.Size; i += c.Conc {
		n := bench.Vary(c.Seed, i, c.DurUS)
		if bench.Hash(c.Seed, i)%8 == 0 {
			mu.Lock()
			table[i%64] += bench.Work(n / 2)
			mu.Unlock()
		} else {
			mu.RLock()
			bench.Sink += table[i%64] & 1
			bench.Work(n / 2)
			mu.RUnlock()
		}
		bench.Work(n - n/2)
	}
}
