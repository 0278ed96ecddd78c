// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"time"
)

func main() {
	events := make(chan int, 8)
	go func() {
		events <- 1
	}()
	time.Sleep(2 * time.Millisecond)
	close(events)
	for range events {
	}
	time.Sleep(time.Millisecond)
}
