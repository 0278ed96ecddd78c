// SPDX-License-Identifier: BSD-3-Clause

// sessions: requests of users whose sessions lie in a sync.Map, each with a lock of its own, a few
// of them popular; a session is set up once, and a journal behind one lock gets every request.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type session struct {
	once  sync.Once
	mu    sync.Mutex
	state uint64
}

type journal struct {
	mu    sync.Mutex
	lines []int
}

func (j *journal) add(i int) {
	j.mu.Lock()
	j.lines = append(j.lines, i)
	bench.Work(1)
	j.mu.Unlock()
}

func handle(c *bench.Config, all *sync.Map, j *journal, i int) {
	user := bench.Hash(c.Seed, i) % 60
	if user > 40 {
		user = 0
	}
	v, _ := all.LoadOrStore(user, &session{})
	s := v.(*session)
	s.once.Do(func() { s.state = bench.Work(50) })
	bench.Work(bench.Vary(c.Seed, i, c.DurUS))
	s.mu.Lock()
	s.state ^= bench.Work(6)
	s.mu.Unlock()
	j.add(i)
}

func main() {
	bench.Main("sessions", bench.Config{Size: 4000, Conc: 7, DurUS: 18}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var all sync.Map
			j := &journal{}
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						handle(c, &all, j, i)
					}
				}(g)
			}
			wg.Wait()
			return int64(len(j.lines))
		}}
	})
}
