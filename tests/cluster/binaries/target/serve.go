package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sort"
	"syscall"
	"time"
)

func serve(arguments []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	httpPort := flags.String("http", "8080", "port of HTTP")
	httpsPort := flags.String("https", "", "port of HTTPS, with a certificate that has expired")
	tcpPort := flags.String("tcp", "", "port that accepts and closes")
	grpcPort := flags.String("grpc", "", "port of the health service")
	grpcAnswers := flags.String("grpc-answers", "1", "serving statuses")
	delay := flags.Int("delay", 0, "ms before it listens")
	onTerm := flags.Int("term", 0, "ms from SIGTERM to the end; -1 ignores the signal")
	termCode := flags.Int("term-code", 0, "exit code after SIGTERM")
	endAfter := flags.Int("exit", -1, "ms until it ends by itself")
	code := flags.Int("code", 0, "exit code of that end")
	message := flags.String("message", "", "text for /dev/termination-log before that end")
	memory := flags.Int("memory", 0, "MiB that it fills")
	flags.Parse(arguments)

	host, _ := os.Hostname()
	environment := os.Environ()
	sort.Strings(environment)
	note("start", map[string]any{"hostname": host, "environment": environment})
	go obey(*onTerm, *termCode)
	if *endAfter >= 0 {
		go end(*endAfter, *code, *message)
	}
	if *memory > 0 {
		go fill(*memory)
	}
	time.Sleep(time.Duration(*delay) * time.Millisecond)
	if *tcpPort != "" {
		go must(func() error { return acceptAndClose(":" + *tcpPort) })
	}
	if *httpsPort != "" {
		go must(func() error { return serveTLS(":" + *httpsPort) })
	}
	if *grpcPort != "" {
		go must(func() error { return serveGRPC(":"+*grpcPort, *grpcAnswers) })
	}
	must(func() error { return http.ListenAndServe(":"+*httpPort, http.HandlerFunc(handle)) })
}

// must ends the program if a server of it ends.
func must(run func() error) {
	note("error", map[string]any{"error": run().Error()})
	os.Exit(9)
}

// obey notes SIGTERM and SIGINT, and ends the program after the first unless ms is negative.
func obey(ms, code int) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	for got := range signals {
		note("signal", map[string]any{"signal": got.String()})
		if ms >= 0 {
			go end(ms, code, "")
		}
	}
}

func end(ms, code int, message string) {
	time.Sleep(time.Duration(ms) * time.Millisecond)
	if message != "" {
		if err := os.WriteFile("/dev/termination-log", []byte(message), 0o644); err != nil {
			note("error", map[string]any{"error": err.Error()})
		}
	}
	note("exit", map[string]any{"code": code})
	os.Exit(code)
}

// fill keeps so many MiB of memory that it has written.
func fill(mib int) {
	kept := make([][]byte, 0, mib)
	for range mib {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		kept = append(kept, block)
	}
	time.Sleep(24 * time.Hour)
	runtime.KeepAlive(kept)
}

func acceptAndClose(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		note("tcp", map[string]any{"name": "tcp"})
		connection.Close()
	}
}

func serveTLS(address string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: yesterday.Add(-24 * time.Hour), NotAfter: yesterday}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	chain := []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(handle), TLSConfig: &tls.Config{Certificates: chain}}
	return server.ListenAndServeTLS("", "")
}
