// SPDX-License-Identifier: BSD-3-Clause
//
// Not a deadlock while a timer is pending; it becomes one when the last sleeper is
// gone.
//
// scenario: main: go S; recv c. S: sleep 3ms; print s ends.
// exit: 2

package main

import "time"

func main() {
	go func() {
		time.Sleep(3 * ms)
		p("s ends")
		flush()
	}()
	<-make(chan int)
}
