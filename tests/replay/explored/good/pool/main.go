// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"sync/atomic"
)

type job struct {
	n     int
	reply chan int
}

func worker(jobs <-chan job, wg *sync.WaitGroup) {
	defer wg.Done()
	for j := range jobs {
		j.reply <- j.n * j.n
	}
}

func client(jobs chan<- job, from int, wg *sync.WaitGroup, total *atomic.Int64) {
	defer wg.Done()
	for i := 0; i < 4; i++ {
		reply := make(chan int)
		jobs <- job{from + i, reply}
		total.Add(int64(<-reply))
	}
}

func main() {
	jobs := make(chan job, 2)
	var workers, clients sync.WaitGroup
	var total atomic.Int64
	for i := 0; i < 2; i++ {
		workers.Add(1)
		go worker(jobs, &workers)
	}
	for i := 0; i < 3; i++ {
		clients.Add(1)
		go client(jobs, 10*i, &clients, &total)
	}
	clients.Wait()
	close(jobs)
	workers.Wait()
	println(total.Load())
}
