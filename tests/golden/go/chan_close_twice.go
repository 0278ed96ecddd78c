// SPDX-License-Identifier: BSD-3-Clause
//
// Closing twice and closing nil panic with their own texts.
//
// scenario: main: close c; call f(c); call f(nil). f: defer {recover; print text};
// close.

package main

func main() {
	c := make(chan int)
	close(c)
	for _, ch := range []chan int{c, nil} {
		func() {
			defer func() { p(recover().(error)) }()
			close(ch)
		}()
	}
	flush()
}
