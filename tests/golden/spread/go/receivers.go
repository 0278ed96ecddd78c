// SPDX-License-Identifier: BSD-3-Clause

// Six goroutines wait on a channel that is closed after 200 us.
package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	order := make(chan int, 6)
	gate := make(chan int)
	wg.Add(6)
	for i := 1; i <= 6; i++ {
		go func(id int) {
			<-gate
			spin(5)
			order <- id
			wg.Done()
		}(i)
	}
	time.Sleep(200 * time.Microsecond)
	close(gate)
	wg.Wait()
	show(order)
}
