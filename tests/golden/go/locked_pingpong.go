// SPDX-License-Identifier: BSD-3-Clause
//
// Ping-pong between two goroutines that are locked to their threads: the order is
// that of unlocked ones.
//
// scenario: as chan_pingpong, both goroutines call lockosthread first.

package main

import "runtime"

func main() {
	runtime.LockOSThread()
	ping, pong := make(chan int), make(chan int)
	go func() {
		runtime.LockOSThread()
		for n := range ping {
			p("pong", n)
			pong <- n
		}
		p("pong ends")
	}()
	for n := 1; n <= 4; n++ {
		p("ping", n)
		ping <- n
		<-pong
	}
	close(ping)
	runtime.UnlockOSThread()
	runtime.Gosched()
	p("end")
	flush()
}
