package main

import (
	"crypto"
	"crypto/dsa"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"
)

// cases returns the server of each name. A server is made when its turn comes, because a long key takes seconds.
func cases() map[string]func() *tls.Config {
	all := map[string]func() *tls.Config{}
	for _, group := range []map[string]func() *tls.Config{parsing(), keys(), chains(), offers()} {
		maps.Copy(all, group)
	}
	return all
}

func names(all map[string]func() *tls.Config) []string {
	return slices.Sorted(maps.Keys(all))
}

var p256 = sync.OnceValue(func() crypto.Signer { return ecKey(elliptic.P256()) })
var good = sync.OnceValue(func() []byte { return certificate(p256(), nil) })

func ecKey(curve elliptic.Curve) crypto.Signer {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		fail(err)
	}
	return key
}

func rsaKey(bits int) crypto.Signer {
	// Several short primes are found sooner than two long ones.
	key, err := rsa.GenerateMultiPrimeKey(rand.Reader, max(2, bits/512), bits)
	if err != nil {
		fail(err)
	}
	return key
}

func certificate(key crypto.Signer, change func(*x509.Certificate)) []byte {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7),
		Subject:      pkix.Name{CommonName: "x"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(99 * time.Hour),
		DNSNames:     []string{"localhost"},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		fail(err)
	}
	return der
}

func config(key crypto.Signer, chain ...[]byte) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: chain, PrivateKey: key}}}
}

func with(config *tls.Config, change func(*tls.Config)) *tls.Config {
	change(config)
	return config
}

func withExtension(extensions ...pkix.Extension) func() *tls.Config {
	return func() *tls.Config {
		return config(p256(), certificate(p256(), func(c *x509.Certificate) { c.DNSNames, c.ExtraExtensions = nil, extensions }))
	}
}

// parsing has certificates that a client must parse.
func parsing() map[string]func() *tls.Config {
	extension := func(number int, value ...byte) pkix.Extension {
		return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, number}, Value: value}
	}
	unknown := pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: []byte{5, 0}}
	critical := pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, 5}, Critical: true, Value: []byte{5, 0}}
	serial := func() []byte {
		der := slices.Clone(good())
		for i := range der {
			if der[i] == 2 && der[i+1] == 1 && der[i+2] == 7 {
				der[i+2] = 0x87
				return der
			}
		}
		panic("no serial number")
	}
	return map[string]func() *tls.Config{
		"good":              func() *tls.Config { return config(p256(), good()) },
		"garbage":           func() *tls.Config { return config(p256(), []byte("no certificate at all")) },
		"empty":             func() *tls.Config { return config(p256(), []byte{}) },
		"trailing":          func() *tls.Config { return config(p256(), append(slices.Clone(good()), 0, 0)) },
		"garbage-second":    func() *tls.Config { return config(p256(), good(), []byte("xx")) },
		"negative-serial":   func() *tls.Config { return config(p256(), serial()) },
		"cut":               func() *tls.Config { return config(p256(), good()[:len(good())-1]) },
		"unknown-extension": withExtension(unknown, critical),
		"twice":             withExtension(unknown, unknown),
		"bad-san":           withExtension(extension(17, 1, 2, 3)),
		"san-of-five-bytes": withExtension(extension(17, 0x30, 7, 0x87, 5, 1, 2, 3, 4, 5)),
		"san-uri":           withExtension(extension(17, append([]byte{0x30, 11, 0x86, 9}, "http://%z"...)...)),
		"san-uri-domain":    withExtension(extension(17, append([]byte{0x30, 12, 0x86, 10}, "http://a./"...)...)),
		"bad-policies":      withExtension(extension(32, 0x30, 2, 5, 0)),
		"bad-constraints":   withExtension(extension(30, 0x30, 0)),
		"long-mask":         withExtension(extension(30, 0x30, 14, 0xa0, 12, 0x30, 10, 0x87, 8, 1, 2, 3, 4, 255, 0, 255, 0)),
		"expired": func() *tls.Config {
			return config(p256(), certificate(p256(), func(c *x509.Certificate) { c.NotAfter = time.Unix(1000, 0); c.NotBefore = time.Unix(0, 0) }))
		},
		"of-the-last-year": func() *tls.Config {
			return config(p256(), certificate(p256(), func(c *x509.Certificate) { c.NotAfter = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }))
		},
		"many-extensions": withExtension(many(4000)...),
	}
}

func many(count int) []pkix.Extension {
	extensions := make([]pkix.Extension, count)
	for i := range extensions {
		extensions[i] = pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, i}, Value: []byte{}}
	}
	return extensions
}

// A liar has one public key and signs with another private key, or with none.
type liar struct {
	public  crypto.PublicKey
	private crypto.Signer
}

func (l liar) Public() crypto.PublicKey { return l.public }

func (l liar) Sign(random io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if l.private == nil {
		return make([]byte, 64), nil
	}
	return l.private.Sign(random, digest, options)
}

// keys has keys of every kind and size in both versions, and signatures by other keys.
func keys() map[string]func() *tls.Config {
	all := map[string]func() *tls.Config{}
	makers := map[string]func() crypto.Signer{
		"p224": func() crypto.Signer { return ecKey(elliptic.P224()) },
		"p256": func() crypto.Signer { return ecKey(elliptic.P256()) },
		"p384": func() crypto.Signer { return ecKey(elliptic.P384()) },
		"p521": func() crypto.Signer { return ecKey(elliptic.P521()) },
		"ed25519": func() crypto.Signer {
			_, key, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				fail(err)
			}
			return key
		},
	}
	for _, bits := range []int{512, 768, 1016, 1023, 1024, 1025, 1536, 2047, 2048, 3072, 8192} {
		makers["rsa"+strconv.Itoa(bits)] = func() crypto.Signer { return rsaKey(bits) }
	}
	for name, make := range makers {
		// A long RSA key signs in half a second.
		make, other := sync.OnceValue(make), sync.OnceValue(make)
		good := sync.OnceValue(func() []byte { return certificate(make(), nil) })
		for suffix, version := range map[string]uint16{"": 0, "-tls12": tls.VersionTLS12} {
			all[name+suffix] = func() *tls.Config {
				return with(config(make(), good()), func(c *tls.Config) { c.MaxVersion = version })
			}
			all[name+"-wrong"+suffix] = func() *tls.Config {
				key := liar{make().Public(), other()}
				return with(config(key, good()), func(c *tls.Config) { c.MaxVersion = version })
			}
		}
	}
	all["rsa8193"] = func() *tls.Config { return unprovable(modulus(8193), 65537) }
	all["rsa16384"] = func() *tls.Config { return unprovable(modulus(16384), 65537) }
	all["rsa-even-modulus"] = func() *tls.Config { return unprovable(new(big.Int).Lsh(big.NewInt(1), 2047), 65537) }
	all["rsa-exponent-1"] = func() *tls.Config { return unprovable(modulus(2048), 1) }
	all["rsa-exponent-4"] = func() *tls.Config { return unprovable(modulus(2048), 4) }
	all["rsa-exponent-long"] = func() *tls.Config { return unprovable(modulus(2048), 1<<31+1) }
	all["rsa8193-second"] = func() *tls.Config {
		return config(p256(), good(), unprovable(modulus(8193), 3).Certificates[0].Certificate[0])
	}
	all["dsa"] = func() *tls.Config {
		one := big.NewInt(1)
		key := dsa.PublicKey{Parameters: dsa.Parameters{P: one, Q: one, G: one}, Y: one}
		info := struct {
			Algorithm pkix.AlgorithmIdentifier
			Key       asn1.BitString
		}{}
		info.Algorithm.Algorithm = asn1.ObjectIdentifier{1, 2, 840, 10040, 4, 1}
		info.Algorithm.Parameters.FullBytes = marshal(key.Parameters)
		info.Key = bitString(marshal(key.Y))
		return config(p256(), withKey(marshal(info)))
	}
	all["unknown-key"] = func() *tls.Config {
		info := struct {
			Algorithm pkix.AlgorithmIdentifier
			Key       asn1.BitString
		}{}
		info.Algorithm.Algorithm = asn1.ObjectIdentifier{1, 2, 3}
		info.Key = bitString([]byte{1})
		return config(p256(), withKey(marshal(info)))
	}
	return all
}

// modulus returns an odd number with so many bits. Nobody knows its primes.
func modulus(bits int) *big.Int {
	number := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return number.Add(number, big.NewInt(12345))
}

// unprovable has an RSA key whose private half nobody knows.
func unprovable(modulus *big.Int, exponent int) *tls.Config {
	key := &rsa.PublicKey{N: modulus, E: exponent}
	info := struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}{}
	info.Algorithm.Algorithm = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	info.Algorithm.Parameters = asn1.NullRawValue
	info.Key = bitString(marshal(*key))
	return config(liar{public: &rsa.PublicKey{N: modulus, E: 65537}}, withKey(marshal(info)))
}

func bitString(octets []byte) asn1.BitString {
	return asn1.BitString{Bytes: octets, BitLength: 8 * len(octets)}
}

func marshal(value any) []byte {
	der, err := asn1.Marshal(value)
	if err != nil {
		fail(err)
	}
	return der
}

// withKey returns the good certificate with another public key, whose SubjectPublicKeyInfo is given.
func withKey(info []byte) []byte {
	tree := parsed(good())
	tree.children[0].children[6] = parsed(info)
	return tree.encoded()
}

// chains has chains of many lengths.
func chains() map[string]func() *tls.Config {
	all := map[string]func() *tls.Config{}
	for _, kilobytes := range []int{10, 40, 60, 70, 200, 255, 257} {
		all["chain-"+strconv.Itoa(kilobytes)] = func() *tls.Config {
			chain := [][]byte{good()}
			for size := 0; size < kilobytes<<10; {
				long := certificate(p256(), func(c *x509.Certificate) {
					value := make([]byte, min(9000, max(1, kilobytes<<10-size-600)))
					c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: value}}
				})
				chain, size = append(chain, long), size+len(long)
			}
			return config(p256(), chain...)
		}
	}
	return all
}

// offers has servers that know only one group, version or suite.
func offers() map[string]func() *tls.Config {
	all := map[string]func() *tls.Config{}
	add := func(name string, change func(*tls.Config)) {
		all[name] = func() *tls.Config { return with(config(p256(), good()), change) }
	}
	groups := map[string]tls.CurveID{
		"x25519": tls.X25519, "p256": tls.CurveP256, "p384": tls.CurveP384, "p521": tls.CurveP521,
		"x25519mlkem768": tls.X25519MLKEM768, "p256mlkem768": tls.SecP256r1MLKEM768, "p384mlkem1024": tls.SecP384r1MLKEM1024,
	}
	for name, group := range groups {
		add("group-"+name, func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{group} })
		add("group-"+name+"-tls12", func(c *tls.Config) {
			c.CurvePreferences, c.MaxVersion = []tls.CurveID{group}, tls.VersionTLS12
		})
	}
	add("tls11", func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	add("chacha-tls12", func(c *tls.Config) {
		c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256}
	})
	add("alpn-of-nobody", func(c *tls.Config) { c.NextProtos = []string{"h3"} })
	add("client-certificate", func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })
	add("client-certificate-tls12", func(c *tls.Config) {
		c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
	})
	return all
}
