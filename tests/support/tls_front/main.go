// tls_front: TLS before a server that speaks none.
//
//	tls_front LISTEN_PORT SERVER_PORT PROTOCOL
//
// Accepts TLS on every address, with a certificate that it makes for nobody, and passes the bytes on to the server on
// loopback. PROTOCOL is what the server speaks, as ALPN names it. Static and without a module, so that it runs in an
// image that has nothing.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"time"
)

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		DNSNames: []string{"nobody.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func pass(client net.Conn, server string) {
	defer client.Close()
	plain, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer plain.Close()
	go func() {
		io.Copy(plain, client)
		plain.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(client, plain)
}

func main() {
	config := &tls.Config{Certificates: []tls.Certificate{certificate()}, NextProtos: []string{os.Args[3]}}
	listener, err := tls.Listen("tcp", ":"+os.Args[1], config)
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go pass(client, "127.0.0.1:"+os.Args[2])
	}
}
