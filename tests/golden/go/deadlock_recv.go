// SPDX-License-Identifier: BSD-3-Clause
//
// main receives from a channel nobody sends on.
//
// scenario: main: print before; recv c.
// exit: 2

package main

func main() {
	p("before")
	flush()
	<-make(chan int)
}
