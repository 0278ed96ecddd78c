// SPDX-License-Identifier: BSD-3-Clause

// Four goroutines work 3 us and yield, three times.
package main

import (
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	order := make(chan int, 12)
	wg.Add(4)
	for i := 1; i <= 4; i++ {
		go func(id int) {
			for k := 0; k < 3; k++ {
				spin(3)
				order <- id
				runtime.Gosched()
			}
			wg.Done()
		}(i)
	}
	wg.Wait()
	show(order)
}
