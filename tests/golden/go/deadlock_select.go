// SPDX-License-Identifier: BSD-3-Clause
//
// select without cases, and select over nil channels in a goroutine.
//
// scenario: main: go {select {recv nil; send nil}}; gosched; print before; select {}.
// exit: 2

package main

import "runtime"

func main() {
	var c chan int
	go func() {
		select {
		case <-c:
		case c <- 1:
		}
	}()
	runtime.Gosched()
	p("before")
	flush()
	select {}
}
