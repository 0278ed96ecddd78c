// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	ready := sync.NewCond(&mu)
	is := false
	done := make(chan bool)
	go func() {
		mu.Lock()
		for !is {
			ready.Wait()
		}
		mu.Unlock()
		done <- true
	}()
	time.Sleep(2 * time.Millisecond)
	mu.Lock()
	is = true
	mu.Unlock()
	ready.Signal()
	<-done
}
