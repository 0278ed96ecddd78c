// SPDX-License-Identifier: BSD-3-Clause

// selectctx: Conc clients ask a server with a deadline each; every tenth answer comes too late.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type ask struct {
	us    int
	late  bool
	reply chan uint64
}

func main() {
	bench.Main("selectctx", bench.Config{Size: 600, Conc: 6, DurUS: 60}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			req := make(chan ask)
			for s := 0; s < 2; s++ {
				go func() {
					for a := range req {
						v := bench.Work(a.us)
						if a.late {
							time.Sleep(4 * time.Millisecond)
						}
						a.reply <- v
					}
				}()
			}
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go client(ctx, c, g, req, &wg)
			}
			wg.Wait()
			close(req)
			return int64(c.Size)
		}}
	})
}

func client(ctx context.Context, c *bench.Config, g int, req chan ask, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := g; i < c.Size; i += c.Conc {
		t, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
		a := ask{bench.Vary(c.Seed, i, c.DurUS), bench.Hash(c.Seed, i)%10 == 0, make(chan uint64, 1)}
		select {
		case req <- a:
			select {
			case v := <-a.reply:
				bench.Sink += v & 1
			case <-t.Done():
			}
		case <-t.Done():
		}
		cancel()
		bench.Work(20)
	}
}
