// SPDX-License-Identifier: BSD-3-Clause

package main

import "time"

// The program ends before the server runs again: what its last select took is in no recording.
func main() {
	req, rep, quit := make(chan int), make(chan int), make(chan bool)
	go func() {
		for {
			select {
			case v := <-req:
				rep <- v
			case <-quit:
				return
			}
		}
	}()
	go func() {
		req <- 1
		<-rep
	}()
	time.Sleep(2 * time.Millisecond)
	quit <- true
}
