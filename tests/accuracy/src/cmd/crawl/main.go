// SPDX-License-Identifier: BSD-3-Clause

// crawl: every page is a goroutine that takes one of Conc permits, waits for its answer, parses it,
// and starts the pages that a map behind a mutex does not have yet.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type crawler struct {
	c       *bench.Config
	permits chan struct{}
	wg      sync.WaitGroup
	mu      sync.Mutex
	seen    map[int]bool
}

func (w *crawler) visit(page int) {
	w.mu.Lock()
	known := w.seen[page]
	w.seen[page] = true
	w.mu.Unlock()
	if known || page >= w.c.Size {
		return
	}
	w.wg.Add(1)
	go func() {
		defer w.wg.Done()
		w.permits <- struct{}{}
		time.Sleep(time.Duration(200+bench.Hash(w.c.Seed, page)%800) * time.Microsecond)
		bench.Work(bench.Vary(w.c.Seed, page, w.c.DurUS))
		<-w.permits
		for link := 1; link <= 3; link++ {
			w.visit(page*2 + link)
		}
	}()
}

func main() {
	bench.Main("crawl", bench.Config{Size: 1200, Conc: 24, DurUS: 90}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			w := &crawler{c: c, permits: make(chan struct{}, c.Conc), seen: map[int]bool{}}
			w.visit(0)
			w.wg.Wait()
			return int64(len(w.seen))
		}}
	})
}
