package main

import (
	"strconv"
	"strings"
	"time"
)

// answer is what one request gets: a code after a delay.
type answer struct {
	code  int
	delay time.Duration
}

// nth returns the answer to request number n, from 0, in a row such as "200x4,500@2500": four times 200, then 500 after
// 2500 ms. The last answer repeats for ever.
func nth(row string, n int) answer {
	parts := strings.Split(row, ",")
	last := ""
	for _, part := range parts {
		text, count, counted := strings.Cut(part, "x")
		times := 1
		if counted {
			times, _ = strconv.Atoi(count)
		}
		last = text
		if n < times {
			break
		}
		n -= times
	}
	code, delay, _ := strings.Cut(last, "@")
	ms, _ := strconv.Atoi(delay)
	number, _ := strconv.Atoi(code)
	return answer{code: number, delay: time.Duration(ms) * time.Millisecond}
}

var places = map[string]int{}

// next returns the next answer of the row of this name.
func next(name, row string) answer {
	lock.Lock()
	place := places[name]
	places[name]++
	lock.Unlock()
	return nth(row, place)
}
