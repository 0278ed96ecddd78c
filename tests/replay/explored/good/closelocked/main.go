// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"net"
	"sync"
	"time"
)

type conns struct {
	mu   sync.Mutex
	idle map[net.Conn]bool
}

func (s *conns) set(c net.Conn, idle bool) {
	s.mu.Lock()
	s.idle[c] = idle
	s.mu.Unlock()
}

// What Close waits for is in no recording: that the reader has left.
func (s *conns) closeIdle() {
	s.mu.Lock()
	for c, idle := range s.idle {
		if idle {
			c.Close()
		}
	}
	s.mu.Unlock()
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := &conns{idle: map[net.Conn]bool{}}
	done := make(chan bool)
	go func() {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		s.set(c, true)
		c.Read(make([]byte, 1))
		s.set(c, false)
		done <- true
	}()
	if _, err := net.Dial("tcp", l.Addr().String()); err != nil {
		panic(err)
	}
	time.Sleep(2 * time.Millisecond)
	s.closeIdle()
	<-done
}
