// SPDX-License-Identifier: BSD-3-Clause

// shardmap: Conc goroutines update a map of 16 shards with a lock each; a ticker sums it up.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type shard struct {
	mu sync.Mutex
	m  map[int]uint64
}

func main() {
	bench.Main("shardmap", bench.Config{Size: 12000, Conc: 8, DurUS: 6}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var shards [16]shard
			for i := range shards {
				shards[i].m = map[int]uint64{}
			}
			stop := make(chan struct{})
			var wg, sums sync.WaitGroup
			sums.Add(1)
			go func() {
				defer sums.Done()
				t := time.NewTicker(2 * time.Millisecond)
				defer t.Stop()
				for {
					select {
					case <-t.C:
						for i := range shards {
							shards[i].mu.Lock()
							bench.Sink += uint64(len(shards[i].m))
							bench.Work(2)
							shards[i].mu.Unlock()
						}
					case <-stop:
						return
					}
				}
			}()
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						v := bench.Work(bench.Vary(c.Seed, i, c.DurUS))
						s := &shards[bench.Hash(c.Seed, i)%4*bench.Hash(c.Seed+1, i)%16]
						s.mu.Lock()
						s.m[i%100] += v + bench.Work(2)
						s.mu.Unlock()
					}
				}(g)
			}
			wg.Wait()
			close(stop)
			sums.Wait()
			return int64(c.Size)
		}}
	})
}
