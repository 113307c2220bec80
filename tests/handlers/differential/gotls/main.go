// Command gotls is a TLS server that presents a different certificate, key, chain or offer for each case of the
// differential test. It writes its port, then reads the name of a case a line on standard input, and answers each line
// with "ok" once new connections meet that case. "mutated N" is a certificate that the number N has changed.
//
// The server may use keys that a client refuses:
//
//go:debug rsa1024min=0
package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	var current atomic.Pointer[tls.Config]
	go serve(listener, &current)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	all := cases()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name := lines.Text()
		if number, found := strings.CutPrefix(name, "mutated "); found {
			seed, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				fail(err)
			}
			current.Store(mutated(seed))
		} else if name == "?" {
			fmt.Println(strings.Join(names(all), " "))
			continue
		} else if make, found := all[name]; found {
			current.Store(make())
		} else {
			fail(fmt.Errorf("there is no case %q", name))
		}
		fmt.Println("ok")
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "gotls:", err)
	os.Exit(2)
}

// serve answers every request with "ok".
func serve(listener net.Listener, current *atomic.Pointer[tls.Config]) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			fail(err)
		}
		go func() {
			defer connection.Close()
			connection.SetDeadline(time.Now().Add(20 * time.Second))
			session := tls.Server(connection, current.Load())
			if _, err := session.Read(make([]byte, 4096)); err != nil {
				// A close that drops unread bytes would reset the connection, and an alert could be lost.
				connection.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, connection)
				return
			}
			io.WriteString(session, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
			session.Close()
		}()
	}
}
