// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"net"
	"sync"
	"time"
)

// The client waits for the answer under the lock that the server takes before it answers.
func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	served := 0
	done := make(chan bool)
	go func() {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		b := make([]byte, 4)
		c.Read(b)
		mu.Lock()
		served++
		mu.Unlock()
		c.Write(b)
		c.Close()
		done <- true
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	c.Write([]byte("ping"))
	time.Sleep(2 * time.Millisecond)
	mu.Lock()
	c.Read(make([]byte, 4))
	served--
	mu.Unlock()
	<-done
}
