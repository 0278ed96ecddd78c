// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type topic struct {
	mu     sync.Mutex
	closed bool
	out    chan int
}

func (t *topic) publish(x int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.out <- x
	}
}

func (t *topic) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		close(t.out)
	}
}

func main() {
	t := &topic{out: make(chan int, 16)}
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			t.publish(i)
		}(i)
	}
	time.Sleep(2 * time.Millisecond)
	t.close()
	wg.Wait()
	for range t.out {
	}
}
