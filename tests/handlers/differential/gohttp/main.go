// Command gohttp is the reference of the differential test: Go's own net/http, which it configures and judges as the
// kubelet does for an httpGet probe (pkg/probe/http of Kubernetes 1.36). It reads one JSON object a line on standard
// input, carries out that probe once, and writes one JSON object a line.
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A question is a probe with the address of its target.
type question struct {
	Scheme         string      `json:"scheme"`
	Host           string      `json:"host"`
	Port           int         `json:"port"`
	Path           string      `json:"path"`
	Headers        [][2]string `json:"headers"`
	TimeoutSeconds int         `json:"timeout_seconds"`
	UserAgent      string      `json:"user_agent"`
}

// An answer is what the handler returns. Texts are base64, because a body may hold any bytes.
type answer struct {
	Result string `json:"result"`
	Output []byte `json:"output"`
	Error  []byte `json:"error"`
	Class  string `json:"class"`
}

// The kubelet keeps this much of a body (http.go:maxRespBodyLength).
const keptBytes = 10 * 1024

// A line is long enough for the longest probe of a case.
const lineBytesMax = 16 << 20

var errTooManyRedirects = errors.New("stopped after 10 redirects")

// The transport lives as long as the process, as the kubelet's does.
var transport = &http.Transport{
	TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
	TLSHandshakeTimeout: 10 * time.Second,
	ForceAttemptHTTP2:   true,
	DisableKeepAlives:   true,
	DisableCompression:  true,
	DialContext:         (&net.Dialer{Control: linger}).DialContext,
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, lineBytesMax)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, "gohttp: not a question:", err)
			os.Exit(2)
		}
		if err := answers.Encode(probe(asked)); err != nil {
			os.Exit(1)
		}
	}
}

// linger sets SO_LINGER to a second as the kubelet's dialer does, to spare the node sockets in TIME-WAIT
// (probe.ProbeDialer).
func linger(_, _ string, connection syscall.RawConn) error {
	return connection.Control(func(fd uintptr) {
		_ = syscall.SetsockoptLinger(int(fd), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1, Linger: 1})
	})
}

// probe runs one probe and returns the result that prober.runProbe and DoHTTPProbe would return.
func probe(asked question) answer {
	request, err := newRequest(asked)
	if err != nil {
		return answer{Result: "unknown", Error: []byte(err.Error()), Class: "request"}
	}
	client := &http.Client{
		Timeout:       time.Duration(asked.TimeoutSeconds) * time.Second,
		Transport:     transport,
		CheckRedirect: staysOnHost,
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{Result: "failure", Output: []byte(err.Error()), Class: classOf(err)}
	}
	defer response.Body.Close()
	limited := &io.LimitedReader{R: response.Body, N: keptBytes}
	body, err := io.ReadAll(limited)
	if err != nil {
		return answer{Result: "failure", Error: []byte(err.Error()), Class: classOf(err)}
	}
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return answer{Result: "success", Output: body, Class: "ok"}
	case status >= 300 && status < 400:
		text := append([]byte("Probe terminated redirects, Response body: "), body...)
		return answer{Result: "warning", Output: text, Class: "warning"}
	default:
		text := fmt.Sprintf("HTTP probe failed with statuscode: %d", status)
		return answer{Result: "failure", Output: []byte(text), Class: "status"}
	}
}

// newRequest builds the URL, writes it and parses it again as the kubelet does, which can change the meaning of a path
// or host (request.go:NewRequestForHTTPGetAction).
func newRequest(asked question) (*http.Request, error) {
	target, err := url.Parse(asked.Path)
	if err != nil {
		target = &url.URL{Path: asked.Path}
	}
	target.Scheme = strings.ToLower(asked.Scheme)
	if target.Scheme == "" {
		target.Scheme = "http"
	}
	target.Host = net.JoinHostPort(asked.Host, strconv.Itoa(asked.Port))
	request, err := http.NewRequest(http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	for _, field := range asked.Headers {
		request.Header.Add(field[0], field[1])
	}
	if _, given := request.Header["User-Agent"]; !given {
		request.Header.Set("User-Agent", asked.UserAgent)
	}
	if _, given := request.Header["Accept"]; !given {
		request.Header.Set("Accept", "*/*")
	} else if request.Header.Get("Accept") == "" {
		request.Header.Del("Accept")
	}
	request.Host = request.Header.Get("Host")
	return request, nil
}

// staysOnHost follows a redirect only to the first request's host (http.go:RedirectChecker(false)).
func staysOnHost(next *http.Request, before []*http.Request) error {
	if next.URL.Hostname() != before[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	if len(before) >= 10 {
		return errTooManyRedirects
	}
	return nil
}

// classOf returns a coarse class, so that an implementation with other error texts can be compared.
func classOf(err error) string {
	var number syscall.Errno
	var network net.Error
	var lookup *net.DNSError
	has := func(text string) bool { return strings.Contains(err.Error(), text) }
	switch {
	case errors.Is(err, errTooManyRedirects), has("failed to parse Location header"):
		return "redirects"
	case has("unsupported protocol scheme"), has("invalid header field"), has("no Host in request URL"),
		has("invalid port"), has("idna: invalid label"):
		return "request"
	case errors.As(err, &lookup), has("no suitable address found"):
		return "resolve"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.As(err, &number):
		return "unreachable"
	case has("transport connection broken"):
		return "malformed"
	case has("tls: "), has("HTTP response to HTTPS client"):
		return "tls"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	default:
		return "malformed"
	}
}
