// SPDX-License-Identifier: BSD-3-Clause

// Six goroutines sleep 300 us and work 5.
package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	order := make(chan int, 6)
	wg.Add(6)
	for i := 1; i <= 6; i++ {
		go func(id int) {
			time.Sleep(300 * time.Microsecond)
			spin(5)
			order <- id
			wg.Done()
		}(i)
	}
	wg.Wait()
	show(order)
}
