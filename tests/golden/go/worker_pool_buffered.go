// SPDX-License-Identifier: BSD-3-Clause
//
// Three workers, jobs and results in buffers of four; results are collected by main.
//
// scenario: jobs, results room 4. main: go W(1..3); go feeder (jobs 0..9, close);
// loop 10 {recv results; print result}. W(i): range jobs: send results; print w i did
// j.

package main

func main() {
	jobs, results := make(chan int, 4), make(chan int, 4)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			for j := range jobs {
				results <- j * j
				p("w", i, "did", j)
			}
		}()
	}
	go func() {
		for j := 0; j < 10; j++ {
			jobs <- j
		}
		close(jobs)
	}()
	for n := 0; n < 10; n++ {
		p("result", <-results)
	}
	p("end")
	flush()
}
