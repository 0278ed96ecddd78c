// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	events := make(chan int, 8)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		events <- 1
	}()
	time.Sleep(2 * time.Millisecond)
	wg.Wait()
	close(events)
	for range events {
	}
}
