// SPDX-License-Identifier: BSD-3-Clause

// logger: Conc producers compute and send lines to one writer over a buffered channel.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("logger", bench.Config{Size: 6000, Conc: 5, DurUS: 10}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			lines := make(chan int, 64)
			done := make(chan struct{})
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						bench.Work(bench.Vary(c.Seed, i, c.DurUS))
						lines <- i
					}
				}(g)
			}
			go func() {
				for i := range lines {
					bench.Work(bench.Vary(c.Seed+1, i, 4))
				}
				close(done)
			}()
			wg.Wait()
			close(lines)
			<-done
			return int64(c.Size)
		}}
	})
}
