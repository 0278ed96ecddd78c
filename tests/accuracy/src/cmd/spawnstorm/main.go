// SPDX-License-Identifier: BSD-3-Clause

// spawnstorm: rounds of Conc short goroutines, each round waited for.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("spawnstorm", bench.Config{Size: 20000, Conc: 200, DurUS: 4}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			for i := 0; i < c.Size; i += c.Conc {
				var wg sync.WaitGroup
				for k := 0; k < c.Conc; k++ {
					wg.Add(1)
					go func(k int) {
						defer wg.Done()
						bench.Work(bench.Vary(c.Seed, k, c.DurUS))
					}(i + k)
				}
				wg.Wait()
			}
			return int64(c.Size)
		}}
	})
}
