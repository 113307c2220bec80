package main

import (
	"fmt"
	"net"
	"net/http"
	"sort"
	"strings"
	"time"
)

// handle answers GET /answer/NAME/ANSWERS by that row, /redirect/same, /redirect/other and /redirect/loop by a redirect,
// and every other path by 200.
func handle(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	name := r.URL.Path
	if len(parts) == 3 && parts[0] == "answer" {
		name = parts[1]
	}
	peer, _, _ := net.SplitHostPort(r.RemoteAddr)
	note("http", map[string]any{
		"name": name, "uri": r.RequestURI, "method": r.Method, "proto": r.Proto, "host": anonymous(r.Host),
		"headers": lines(r.Header), "tls": r.TLS != nil, "close": r.Close, "local": peer == "127.0.0.1",
	})
	if parts[0] == "redirect" && len(parts) == 2 {
		to := map[string]string{"same": "/answer/redirected/200", "other": "http://example.invalid/away", "loop": "/redirect/loop"}
		http.Redirect(w, r, to[parts[1]], http.StatusFound)
		return
	}
	given := answer{code: http.StatusOK}
	if name != r.URL.Path {
		given = next(name, parts[2])
	}
	select {
	case <-time.After(given.delay):
	case <-r.Context().Done():
		note("gone", map[string]any{"name": name})
		return
	}
	w.WriteHeader(given.code)
	fmt.Fprintf(w, "body of %d", given.code)
}

// anonymous is a Host header with IP in the place of an address, which differs from pod to pod.
func anonymous(host string) string {
	if address, port, err := net.SplitHostPort(host); err == nil && net.ParseIP(address) != nil {
		return "IP:" + port
	}
	if net.ParseIP(host) != nil {
		return "IP"
	}
	return host
}

// lines are the headers, one text each, in the order of their names.
func lines(headers map[string][]string) []string {
	all := []string{}
	for name, values := range headers {
		all = append(all, name+": "+strings.Join(values, "|"))
	}
	sort.Strings(all)
	return all
}
