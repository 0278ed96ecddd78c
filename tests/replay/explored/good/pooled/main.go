// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type conn struct{ id int }
type pool struct {
	mu      sync.Mutex
	free    []*conn
	waiting []chan *conn
	n       int
}

func (p *pool) get() *conn {
	p.mu.Lock()
	if len(p.free) > 0 {
		c := p.free[0]
		p.free = p.free[1:]
		p.mu.Unlock()
		return c
	}
	if p.n < 2 {
		p.n++
		c := &conn{p.n}
		p.mu.Unlock()
		return c
	}
	ch := make(chan *conn, 1)
	p.waiting = append(p.waiting, ch)
	p.mu.Unlock()
	return <-ch
}
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		ch := p.waiting[0]
		p.waiting = p.waiting[1:]
		ch <- c
		return
	}
	p.free = append(p.free, c)
}
func main() {
	p := &pool{}
	var wg sync.WaitGroup
	for i := 0; i < 5; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < 3; k++ {
				c := p.get()
				time.Sleep(50 * time.Microsecond)
				p.put(c)
			}
		}()
	}
	wg.Wait()
}
