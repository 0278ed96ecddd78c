// SPDX-License-Identifier: BSD-3-Clause
//
// close of a nil channel, not recovered: the program dies with exit status 2.
//
// scenario: main: print before; close nil.
// exit: 2

package main

func main() {
	var c chan int
	p("before")
	flush()
	close(c)
}
