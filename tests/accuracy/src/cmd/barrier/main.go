// SPDX-License-Identifier: BSD-3-Clause

// barrier: Conc workers compute in phases; nobody begins a phase before all have ended the last.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("barrier", bench.Config{Size: 100, Conc: 6, DurUS: 120}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			for phase := 0; phase < c.Size; phase++ {
				var wg sync.WaitGroup
				for g := 0; g < c.Conc; g++ {
					wg.Add(1)
					go func(i int) {
						defer wg.Done()
						bench.Work(bench.Vary(c.Seed, i, c.DurUS))
					}(phase*c.Conc + g)
				}
				wg.Wait()
			}
			return int64(c.Size)
		}}
	})
}
