// SPDX-License-Identifier: BSD-3-Clause
//
// What every golden program shares. It is built together with each of them
// (go build PROGRAM.go common.go). Lines are collected in memory, because a
// write is a system call and a system call is a scheduling event.

package main

import (
	"os"
	"runtime"
	"strconv"
	"time"
)

var out []byte

// p records one line; the words are separated by blanks.
func p(words ...any) {
	for i, w := range words {
		if i > 0 {
			out = append(out, ' ')
		}
		switch v := w.(type) {
		case string:
			out = append(out, v...)
		case int:
			out = strconv.AppendInt(out, int64(v), 10)
		case bool:
			out = strconv.AppendBool(out, v)
		case error:
			out = append(out, v.Error()...)
		default:
			out = append(out, '?')
		}
	}
	out = append(out, '\n')
}

// flush writes what p has collected. Programs that die (deadlock, fatal
// error) call it before the fatal operation.
func flush() {
	os.Stdout.Write(out)
	out = out[:0]
}

// busy occupies the CPU without any scheduling operation.
func busy(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// align brings schedtick to 1 modulo 61, the value it would have if main were the
// first goroutine the P ever ran. What the runtime starts before main makes it 5 or
// 6, sometimes 7; programs that show the 1-in-61 rule must not depend on that.
func align() {
	const n = 130
	ran, before := 0, 0
	for i := 0; i < n; i++ {
		go func() { ran++ }()
	}
	for ran < n {
		before = ran
		runtime.Gosched() // back by the 1-in-61 rule (1), or when the ring is empty
	}
	for tick := 2 + ran - before; tick%61 != 1; tick++ {
		runtime.Gosched() // alone: one tick
	}
}

// wakeSysmon makes a system call. sysmon may have fallen asleep for a minute while
// the P was idle during start-up; only a system call or the end of a stop-the-world
// wakes it, and until then nobody is preempted.
func wakeSysmon() {
	os.Stdout.Write(nil)
}

const ms = time.Millisecond
