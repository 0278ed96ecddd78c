// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	ch := make(chan int)
	wg.Add(2)
	go func() {
		defer wg.Done()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		ch <- 1
		mu.Unlock()
	}()
	go func() {
		defer wg.Done()
		mu.Lock()
		x := 2
		mu.Unlock()
		println(x + <-ch)
	}()
	wg.Wait()
}
