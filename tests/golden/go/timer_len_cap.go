// SPDX-License-Identifier: BSD-3-Clause
//
// len and cap of a timer's channel: 1.22 shows the buffer of one, 1.23 shows an
// unbuffered channel.
//
// scenario: t=timer 1ms; print cap; sleep 4ms; print len.

package main

import "time"

func main() {
	t := time.NewTimer(ms)
	p("cap", cap(t.C))
	time.Sleep(4 * ms)
	p("len", len(t.C))
	<-t.C
	p("len", len(t.C))
	flush()
}
