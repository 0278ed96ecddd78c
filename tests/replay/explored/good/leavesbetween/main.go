// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type gate struct {
	mu   sync.Mutex
	c    *sync.Cond
	open bool
}

// Only this goroutine waits, and it is woken once: no loop is needed.
func (g *gate) pass() {
	g.mu.Lock()
	if g.open {
		g.mu.Unlock()
		return
	}
	g.c.Wait()
	g.mu.Unlock()
}

func main() {
	g := &gate{}
	g.c = sync.NewCond(&g.mu)
	done := make(chan bool)
	go func() {
		g.pass()
		done <- true
	}()
	time.Sleep(2 * time.Millisecond)
	g.mu.Lock()
	g.open = true
	g.c.Broadcast()
	g.mu.Unlock()
	<-done
}
