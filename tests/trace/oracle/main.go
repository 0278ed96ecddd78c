// SPDX-License-Identifier: BSD-3-Clause

// Go's own reader of traces as a program, built by oracle/build.py from the internal/trace of a
// Go that is installed.
//
//	oracle dump FILE     every event as that reader prints it, then its error, if any
//	oracle verdict FILE  "ok" or the error
//	oracle bench FILE N  best of N: bytes per second of reading, nothing done with the events
//	oracle unpack FILE   a *.test file of internal/trace: the trace as bytes
//	oracle expect FILE   what that file says about it: SUCCESS or FAILURE
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"oracle/trace"
	"oracle/trace/testtrace"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(data []byte, each func(trace.Event)) error {
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		each(ev)
	}
}

func bench(data []byte, n int) {
	best := 0.0
	for i := 0; i < n; i++ {
		start := time.Now()
		check(read(data, func(trace.Event) {}))
		if rate := float64(len(data)) / time.Since(start).Seconds(); rate > best {
			best = rate
		}
	}
	fmt.Printf("%.0f\n", best)
}

func main() {
	data, err := os.ReadFile(os.Args[2])
	check(err)
	switch os.Args[1] {
	case "dump":
		out := bufio.NewWriter(os.Stdout)
		defer out.Flush()
		if err := read(data, func(ev trace.Event) { fmt.Fprintln(out, ev.String()) }); err != nil {
			fmt.Fprintln(out, "error")
		}
	case "verdict":
		if err := read(data, func(trace.Event) {}); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("ok")
		}
	case "bench":
		n, err := strconv.Atoi(os.Args[3])
		check(err)
		bench(data, n)
	case "unpack":
		r, _, _, err := testtrace.ParseFile(os.Args[2])
		check(err)
		_, err = io.Copy(os.Stdout, r)
		check(err)
	case "expect":
		_, _, exp, err := testtrace.ParseFile(os.Args[2])
		check(err)
		if exp.Check(nil) == nil {
			fmt.Println("SUCCESS")
		} else {
			fmt.Println("FAILURE")
		}
	}
}
