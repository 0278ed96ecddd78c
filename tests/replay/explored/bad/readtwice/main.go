// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type registry struct {
	mu    sync.RWMutex
	names map[string]int
}

func (r *registry) count() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.names)
}

func (r *registry) report() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	n := 0
	for range r.names {
		n++
	}
	return n + r.count()
}

func main() {
	r := &registry{names: map[string]int{"a": 1}}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		println(r.report())
	}()
	go func() {
		defer wg.Done()
		time.Sleep(2 * time.Millisecond)
		r.mu.Lock()
		r.names["b"] = 2
		r.mu.Unlock()
	}()
	wg.Wait()
}
