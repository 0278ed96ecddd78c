// SPDX-License-Identifier: BSD-3-Clause
//
// sync.OnceFunc repeats the panic of its first call.
//
// scenario: f = oncefunc {print body; panic boom}; loop 2 {call {defer recover,
// print; f()}}.
// releases: 1.21-

package main

import "sync"

func main() {
	f := sync.OnceFunc(func() {
		p("body")
		panic("boom")
	})
	for i := 0; i < 2; i++ {
		func() {
			defer func() { p("recovered", recover().(string)) }()
			f()
		}()
	}
	flush()
}
