// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type hub struct {
	mu   sync.Mutex
	subs []chan int
}

func (h *hub) pub(x int) {
	h.mu.Lock()
	s := append([]chan int{}, h.subs...)
	h.mu.Unlock()
	for _, c := range s {
		c <- x
	}
}
func (h *hub) unsub(c chan int) { h.mu.Lock(); h.subs = nil; h.mu.Unlock(); close(c) }
func main() {
	h := &hub{}
	c := make(chan int, 4)
	h.subs = append(h.subs, c)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); h.pub(1) }()
	time.Sleep(2 * time.Millisecond)
	h.unsub(c)
	wg.Wait()
}
