// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type queue struct {
	mu    sync.Mutex
	c     *sync.Cond
	items int
}

// Whoever calls it has looked.
func (q *queue) sleep() {
	q.c.Wait()
}

func (q *queue) take() {
	q.mu.Lock()
	for q.items == 0 {
		q.sleep()
	}
	q.items--
	q.mu.Unlock()
}

func main() {
	q := &queue{}
	q.c = sync.NewCond(&q.mu)
	done := make(chan bool)
	go func() {
		q.take()
		done <- true
	}()
	time.Sleep(2 * time.Millisecond)
	q.mu.Lock()
	q.items++
	q.c.Signal()
	q.mu.Unlock()
	<-done
}
