// Target runs in the pods of the side-by-side comparison. It notes each request, signal and end as one line of JSON with
// the wall clock, so that the log of a container says what the agent of its node did to the container.
//
//	target serve [flags]        serves HTTP, HTTPS, TCP and gRPC, and ends as its flags say
//	target exec NAME ANSWERS    is an exec probe or hook; its notes go into the log of the container
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

var (
	notes = os.Stdout
	lock  sync.Mutex
)

// note writes one line: what happened, when (nanoseconds since 1970), and the details.
func note(what string, details map[string]any) {
	line := map[string]any{"at": time.Now().UnixNano(), "what": what}
	for key, value := range details {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	lock.Lock()
	defer lock.Unlock()
	notes.Write(append(text, '\n'))
}

func main() {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		serve(os.Args[2:])
	case len(os.Args) == 4 && os.Args[1] == "exec":
		os.Exit(execute(os.Args[2], os.Args[3]))
	default:
		fmt.Fprintln(os.Stderr, "usage: target serve [flags] | target exec NAME ANSWERS")
		os.Exit(2)
	}
}

// execute gives the next answer of a row whose place is kept in a file, because every run is a process of its own.
func execute(name, answers string) int {
	if file, err := os.OpenFile("/proc/1/fd/1", os.O_WRONLY, 0); err == nil {
		notes = file
	}
	path := "/tmp/" + name
	kept, _ := os.ReadFile(path)
	place, _ := strconv.Atoi(string(kept))
	if err := os.WriteFile(path, []byte(strconv.Itoa(place+1)), 0o644); err != nil {
		note("error", map[string]any{"error": err.Error()})
	}
	answer := nth(answers, place)
	note("exec", map[string]any{"name": name})
	time.Sleep(answer.delay)
	note("exec-end", map[string]any{"name": name, "code": answer.code})
	fmt.Printf("exec %s says %d\n", name, answer.code)
	return answer.code
}
