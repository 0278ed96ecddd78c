// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	ready := sync.NewCond(&mu)
	done := make(chan bool)
	go func() {
		mu.Lock()
		ready.Wait()
		mu.Unlock()
		done <- true
	}()
	time.Sleep(2 * time.Millisecond)
	ready.Signal()
	<-done
}
