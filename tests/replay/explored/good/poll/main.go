// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	quit := make(chan struct{})
	done := make(chan bool)
	var mu sync.Mutex
	n := 0
	go func() {
		for {
			select {
			case <-quit:
				done <- true
				return
			default:
			}
			mu.Lock()
			n++
			mu.Unlock()
			time.Sleep(100 * time.Microsecond)
		}
	}()
	time.Sleep(2 * time.Millisecond)
	close(quit)
	<-done
	for !mu.TryLock() {
		time.Sleep(time.Microsecond)
	}
	println(n)
	mu.Unlock()
}
