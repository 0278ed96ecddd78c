// SPDX-License-Identifier: BSD-3-Clause

// timers: Conc goroutines sleep for lengths of their own and work a little each time.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

func main() {
	bench.Main("timers", bench.Config{Size: 60, Conc: 40, DurUS: 30}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := 0; i < c.Size; i++ {
						us := 200 + bench.Hash(c.Seed, g*c.Size+i)%2800
						time.Sleep(time.Duration(us) * time.Microsecond)
						bench.Work(bench.Vary(c.Seed, i+g, c.DurUS))
					}
				}(g)
			}
			wg.Wait()
			return int64(c.Size * c.Conc)
		}}
	})
}
