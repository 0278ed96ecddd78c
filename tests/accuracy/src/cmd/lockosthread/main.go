// SPDX-License-Identifier: BSD-3-Clause

// lockosthread: a goroutine that is locked to its thread serves requests of Conc others.
package main

import (
	"context"
	"runtime"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("lockosthread", bench.Config{Size: 2000, Conc: 4, DurUS: 20}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			type request struct {
				us    int
				reply chan uint64
			}
			req := make(chan request)
			go func() {
				runtime.LockOSThread()
				for r := range req {
					r.reply <- bench.Work(r.us)
				}
			}()
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					reply := make(chan uint64)
					for i := g; i < c.Size; i += c.Conc {
						bench.Work(bench.Vary(c.Seed, i, c.DurUS))
						req <- request{bench.Vary(c.Seed+1, i, c.DurUS), reply}
						<-reply
					}
				}(g)
			}
			wg.Wait()
			close(req)
			return int64(c.Size)
		}}
	})
}
