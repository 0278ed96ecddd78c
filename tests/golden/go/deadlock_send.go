// SPDX-License-Identifier: BSD-3-Clause
//
// main sends on a channel nobody receives from.
//
// scenario: main: print before; send c.
// exit: 2

package main

func main() {
	p("before")
	flush()
	make(chan int) <- 1
}
