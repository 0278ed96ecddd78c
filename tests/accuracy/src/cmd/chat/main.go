// SPDX-License-Identifier: BSD-3-Clause

// chat: a hub that joins, parts and broadcasts; members read what they are sent, and every so often
// say something themselves; who is slow misses messages.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type member struct {
	in chan int
}

type hub struct {
	join, part chan *member
	say        chan int
	done       chan struct{}
}

func (h *hub) run(c *bench.Config) {
	members := map[*member]bool{}
	defer close(h.done)
	for n := 0; ; {
		select {
		case m := <-h.join:
			members[m] = true
			n++
		case m := <-h.part:
			delete(members, m)
			close(m.in)
			if len(members) == 0 && n == c.Conc {
				return
			}
		case text := <-h.say:
			bench.Work(bench.Vary(c.Seed, text, 3))
			for m := range members {
				select {
				case m.in <- text:
				default:
				}
			}
		}
	}
}

func live(c *bench.Config, h *hub, g int, wg *sync.WaitGroup) {
	defer wg.Done()
	m := &member{make(chan int, 64)}
	h.join <- m
	for i := g; i < c.Size; i += c.Conc {
		bench.Work(bench.Vary(c.Seed+1, i, c.DurUS))
		h.say <- i
		for read := false; !read; {
			select {
			case text := <-m.in:
				bench.Work(bench.Vary(c.Seed+2, text, 2))
			default:
				read = true
			}
		}
	}
	h.part <- m
	for range m.in {
		bench.Work(1)
	}
}

func main() {
	bench.Main("chat", bench.Config{Size: 1500, Conc: 10, DurUS: 40}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			h := &hub{make(chan *member), make(chan *member), make(chan int), make(chan struct{})}
			go h.run(c)
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go live(c, h, g, &wg)
			}
			wg.Wait()
			<-h.done
			return int64(c.Size)
		}}
	})
}
