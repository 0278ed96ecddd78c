// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
)

type buffer struct {
	mu       sync.Mutex
	notEmpty *sync.Cond
	notFull  *sync.Cond
	items    []int
}

func (b *buffer) put(x int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.items) == 2 {
		b.notFull.Wait()
	}
	b.items = append(b.items, x)
	b.notEmpty.Signal()
}

func (b *buffer) get() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.items) == 0 {
		b.notEmpty.Wait()
	}
	x := b.items[0]
	b.items = b.items[1:]
	b.notFull.Signal()
	return x
}

func main() {
	b := &buffer{}
	b.notEmpty, b.notFull = sync.NewCond(&b.mu), sync.NewCond(&b.mu)
	var wg sync.WaitGroup
	for p := 0; p < 2; p++ {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for i := 0; i < 6; i++ {
				b.put(i)
			}
		}()
		go func() {
			defer wg.Done()
			for i := 0; i < 6; i++ {
				b.get()
			}
		}()
	}
	wg.Wait()
}
