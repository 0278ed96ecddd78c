// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"net"
	"sync"
)

func answer(c net.Conn) {
	b := make([]byte, 4)
	c.Read(b)
	c.Write(b)
	c.Close()
}

func ask(address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	c.Write([]byte("ping"))
	c.Read(make([]byte, 4))
	c.Close()
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	wg.Add(3)
	go func() {
		defer wg.Done()
		for i := 0; i < 2; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(c)
		}
	}()
	for i := 0; i < 2; i++ {
		go func() {
			defer wg.Done()
			ask(l.Addr().String())
		}()
	}
	wg.Wait()
	l.Close()
}
