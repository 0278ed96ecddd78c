// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	results := make(chan int, 4)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			results <- i * i
		}(i)
	}
	time.Sleep(2 * time.Millisecond)
	wg.Wait()
	close(results)
	sum := 0
	for r := range results {
		sum += r
	}
	println(sum)
}
