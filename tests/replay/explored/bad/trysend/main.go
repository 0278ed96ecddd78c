// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"time"
)

func main() {
	notify := make(chan int)
	done := make(chan bool)
	go func() {
		<-notify
		done <- true
	}()
	time.Sleep(2 * time.Millisecond)
	select {
	case notify <- 1:
	default:
	}
	<-done
}
