// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"sync"
	"time"
)

type job struct {
	n     int
	reply chan int
}

func spin(n int) int {
	x := 88172645463325252
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func server(jobs chan job, wg *sync.WaitGroup) {
	defer wg.Done()
	for j := range jobs {
		j.reply <- spin(j.n)
	}
}

func client(g int, jobs chan job, mu *sync.Mutex, rw *sync.RWMutex, total *int, wg *sync.WaitGroup) {
	defer wg.Done()
	reply := make(chan int)
	for i := 0; i < 12; i++ {
		jobs <- job{2000 + 500*((g+i)%5), reply}
		v := <-reply
		mu.Lock()
		*total += v + spin(1000)
		mu.Unlock()
		rw.RLock()
		spin(500)
		rw.RUnlock()
		if i == 6 {
			rw.Lock()
			spin(800)
			rw.Unlock()
		}
	}
}

func main() {
	var servers, clients sync.WaitGroup
	var mu sync.Mutex
	var rw sync.RWMutex
	var once sync.Once
	total := 0
	jobs := make(chan job, 2)
	for s := 0; s < 2; s++ {
		servers.Add(1)
		go server(jobs, &servers)
	}
	for g := 0; g < 4; g++ {
		clients.Add(1)
		go client(g, jobs, &mu, &rw, &total, &clients)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Microsecond)
	defer cancel()
	ticker := time.NewTicker(100 * time.Microsecond)
	for done := false; !done; {
		select {
		case <-ticker.C:
			once.Do(func() { spin(100) })
		case <-ctx.Done():
			done = true
		}
	}
	ticker.Stop()
	time.Sleep(200 * time.Microsecond)
	clients.Wait()
	close(jobs)
	servers.Wait()
}
