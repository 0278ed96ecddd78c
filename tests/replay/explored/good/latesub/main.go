// SPDX-License-Identifier: BSD-3-Clause

// A subscriber comes while others publish: they hear of its channel under the lock, and no earlier.
package main

import "sync"

type broker struct {
	mu   sync.RWMutex
	subs []chan int
}

func (b *broker) subscribe(readers *sync.WaitGroup) {
	ch := make(chan int, 1)
	b.mu.Lock()
	b.subs = append(b.subs, ch)
	b.mu.Unlock()
	readers.Add(1)
	go func() {
		defer readers.Done()
		for range ch {
		}
	}()
}

func (b *broker) publish(n int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, ch := range b.subs {
		ch <- n
	}
}

func main() {
	b := &broker{}
	var readers, writers sync.WaitGroup
	b.subscribe(&readers)
	for g := 0; g < 3; g++ {
		writers.Add(1)
		go func(g int) {
			defer writers.Done()
			for i := 0; i < 6; i++ {
				b.publish(i)
				if g == 0 && i == 1 {
					b.subscribe(&readers)
				}
			}
		}(g)
	}
	writers.Wait()
	for _, ch := range b.subs {
		close(ch)
	}
	readers.Wait()
}
