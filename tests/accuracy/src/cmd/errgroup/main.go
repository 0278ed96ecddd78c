// SPDX-License-Identifier: BSD-3-Clause

// errgroup: rounds; in each, Conc goroutines of uneven work and a semaphore channel of 3.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("errgroup", bench.Config{Size: 600, Conc: 10, DurUS: 150}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			sem := make(chan struct{}, 3)
			for i := 0; i < c.Size; i += c.Conc {
				var wg sync.WaitGroup
				var mu sync.Mutex
				var sum uint64
				for k := 0; k < c.Conc; k++ {
					wg.Add(1)
					sem <- struct{}{}
					go func(k int) {
						defer wg.Done()
						v := bench.Work(bench.Vary(c.Seed, k, c.DurUS))
						mu.Lock()
						sum += v
						mu.Unlock()
						<-sem
					}(i + k)
				}
				wg.Wait()
				bench.Sink += sum
			}
			return int64(c.Size)
		}}
	})
}
