// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	requests := make(chan int)
	results := make(chan int, 4)
	go func() {
		for r := range requests {
			results <- r + 1
		}
	}()
	ticker := time.NewTicker(time.Millisecond)
	stop := make(chan struct{})
	var once sync.Once
	go func() {
		for {
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	for i := 0; i < 4; i++ {
		requests <- i
	}
	sum := 0
	for i := 0; i < 4; i++ {
		sum += <-results
	}
	once.Do(func() { close(stop) })
	once.Do(func() { close(stop) })
	time.Sleep(3 * time.Millisecond)
	ticker.Stop()
	println(sum)
}
