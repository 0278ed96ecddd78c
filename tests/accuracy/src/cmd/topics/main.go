// SPDX-License-Identifier: BSD-3-Clause

// topics: who publishes finds the subscribers under a RWMutex and sends to each; some subscribe
// and leave meanwhile.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type broker struct {
	mu   sync.RWMutex
	subs map[int][]chan int
}

func (b *broker) subscribe(topic int) chan int {
	ch := make(chan int, 8)
	b.mu.Lock()
	b.subs[topic] = append(b.subs[topic], ch)
	b.mu.Unlock()
	return ch
}

func (b *broker) publish(topic, n int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, ch := range b.subs[topic] {
		ch <- n
	}
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, of := range b.subs {
		for _, ch := range of {
			close(ch)
		}
	}
}

func main() {
	bench.Main("topics", bench.Config{Size: 2000, Conc: 4, DurUS: 8}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			b := &broker{subs: map[int][]chan int{}}
			var readers, writers sync.WaitGroup
			reader := func(topic int) {
				ch := b.subscribe(topic)
				readers.Add(1)
				go func() {
					defer readers.Done()
					for n := range ch {
						bench.Work(bench.Vary(c.Seed, n, c.DurUS))
					}
				}()
			}
			for topic := 0; topic < 4; topic++ {
				reader(topic)
				reader(topic)
			}
			for g := 0; g < c.Conc; g++ {
				writers.Add(1)
				go func(g int) {
					defer writers.Done()
					for i := g; i < c.Size; i += c.Conc {
						bench.Work(bench.Vary(c.Seed+1, i, c.DurUS))
						b.publish(int(bench.Hash(c.Seed, i)%4), i)
						if i%500 == g {
							reader(g)
						}
					}
				}(g)
			}
			writers.Wait()
			b.close()
			readers.Wait()
			return int64(c.Size)
		}}
	})
}
