// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type broker struct {
	mu   sync.RWMutex
	subs []chan int
}

func (b *broker) subscribe() chan int {
	ch := make(chan int, 1)
	b.mu.Lock()
	b.subs = append(b.subs, ch)
	b.mu.Unlock()
	return ch
}

func (b *broker) publish(n int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, ch := range b.subs {
		ch <- n
	}
}

func read(ch chan int, wg *sync.WaitGroup) {
	defer wg.Done()
	for range ch {
	}
}

func main() {
	b := &broker{}
	var writers, readers sync.WaitGroup
	readers.Add(1)
	go read(b.subscribe(), &readers)
	writers.Add(2)
	go func() {
		defer writers.Done()
		for i := 0; i < 8; i++ {
			b.publish(i)
			time.Sleep(2 * time.Millisecond)
		}
	}()
	go func() {
		defer writers.Done()
		time.Sleep(5 * time.Millisecond)
		ch := b.subscribe()
		readers.Add(1)
		go read(ch, &readers)
	}()
	writers.Wait()
	for _, ch := range b.subs {
		close(ch)
	}
	readers.Wait()
}
