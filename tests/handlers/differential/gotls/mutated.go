package main

import (
	"crypto"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"sync"
)

// A node is an element of DER.
type node struct {
	tag      byte
	content  []byte
	children []*node
}

// parsed returns the tree of one element. Octets that hold an element count as its child, so that a change within an
// extension keeps the lengths around it.
func parsed(der []byte) *node {
	nodes := parsedAll(der)
	if len(nodes) != 1 {
		panic("not one element")
	}
	return nodes[0]
}

func parsedAll(der []byte) []*node {
	var nodes []*node
	for len(der) > 0 {
		var raw asn1.RawValue
		rest, err := asn1.Unmarshal(der, &raw)
		if err != nil {
			return nil
		}
		one := &node{tag: raw.FullBytes[0], content: raw.Bytes}
		if raw.IsCompound || one.tag == 4 {
			one.children = parsedAll(raw.Bytes)
		}
		nodes, der = append(nodes, one), rest
	}
	return nodes
}

func (n *node) encoded() []byte {
	content := n.content
	if n.children != nil {
		content = nil
		for _, child := range n.children {
			content = append(content, child.encoded()...)
		}
	}
	size := len(content)
	switch {
	case size < 128:
		return append([]byte{n.tag, byte(size)}, content...)
	case size < 256:
		return append([]byte{n.tag, 0x81, byte(size)}, content...)
	default:
		return append([]byte{n.tag, 0x82, byte(size >> 8), byte(size)}, content...)
	}
}

func (n *node) all() []*node {
	nodes := []*node{n}
	for _, child := range n.children {
		nodes = append(nodes, child.all()...)
	}
	return nodes
}

type pair struct {
	key crypto.Signer
	der []byte
}

// seeds are certificates with every extension that Go reads.
var seeds = sync.OnceValue(func() []pair {
	var pairs []pair
	for _, key := range []crypto.Signer{p256(), ecKey(elliptic.P521()), rsaKey(2048)} {
		pairs = append(pairs, pair{key, certificate(key, everything)})
	}
	return append(pairs, pair{p256(), good()})
})

func everything(c *x509.Certificate) {
	address, _ := url.Parse("https://u@a.example:80/p?q#f")
	_, subnet, _ := net.ParseCIDR("10.0.0.0/8")
	c.Subject = pkix.Name{CommonName: "x*&", Organization: []string{"Größe"}, Country: []string{"DE"}}
	c.DNSNames, c.EmailAddresses = []string{"a.example", "*"}, []string{"a@b.example"}
	c.IPAddresses, c.URIs = []net.IP{net.IPv4(1, 2, 3, 4), net.IPv6loopback}, []*url.URL{address}
	c.KeyUsage, c.ExtKeyUsage = x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	c.IsCA, c.BasicConstraintsValid, c.MaxPathLen = true, true, 3
	c.PermittedDNSDomains, c.ExcludedDNSDomains = []string{".b.example", "c"}, []string{"d"}
	c.PermittedIPRanges, c.PermittedEmailAddresses = []*net.IPNet{subnet}, []string{"a.b@c", "\"q\"@d", "e.f"}
	c.PermittedURIDomains = []string{".example"}
	c.CRLDistributionPoints, c.OCSPServer = []string{"http://a/b"}, []string{"http://c"}
	c.SubjectKeyId, c.AuthorityKeyId = []byte{1, 2}, []byte{3, 4}
	for _, last := range []uint64{3, 4} {
		policy, _ := x509.OIDFromInts([]uint64{1, 2, last})
		c.Policies = append(c.Policies, policy)
	}
	for number, value := range map[int][]byte{
		33: {0x30, 8, 0x30, 6, 6, 1, 42, 6, 1, 43},
		36: {0x30, 6, 0x80, 1, 0, 0x81, 1, 5},
		54: {2, 1, 1},
	} {
		c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, number}, Value: value})
	}
}

// interesting bytes: tags, signs, ends of text.
var interesting = []byte{0, 1, 2, 3, 4, 5, 6, 12, 19, 20, 22, 23, 24, 30, 0x2e, 0x30, 0x31, 0x40, 0x5a, 0x7f, 0x80, 0x81, 0x82, 0x86, 0x87, 0xa0, 0xa1, 0xa3, 0xff}

// mutated returns a server whose certificate the number has changed in one to three places.
func mutated(seed uint64) *tls.Config {
	dice := rand.New(rand.NewPCG(seed, 1))
	chosen := seeds()[dice.IntN(len(seeds()))]
	tree := parsed(chosen.der)
	for range 1 + dice.IntN(3) {
		mutate(dice, tree)
	}
	der := tree.encoded()
	if dice.IntN(8) == 0 {
		der[dice.IntN(len(der))] = interesting[dice.IntN(len(interesting))]
	}
	return config(chosen.key, der)
}

func mutate(dice *rand.Rand, tree *node) {
	nodes := tree.all()
	one := nodes[dice.IntN(len(nodes))]
	some := interesting[dice.IntN(len(interesting))]
	content := slices.Clone(one.content)
	switch dice.IntN(8) {
	case 0:
		one.tag = some
	case 1:
		one.tag ^= 1 << dice.IntN(8)
	case 2:
		if len(one.children) > 0 {
			at := dice.IntN(len(one.children))
			one.children = slices.Delete(slices.Clone(one.children), at, at+1)
		}
	case 3:
		if len(one.children) > 0 {
			at := dice.IntN(len(one.children))
			one.children = slices.Insert(slices.Clone(one.children), at, one.children[at])
		}
	case 4:
		one.content, one.children = append(content, some), nil
	case 5:
		if len(content) > 0 {
			one.content, one.children = content[:dice.IntN(len(content))], nil
		}
	case 6:
		if len(content) > 0 {
			content[dice.IntN(len(content))] = some
			one.content, one.children = content, nil
		}
	case 7:
		if len(content) > 0 {
			content[dice.IntN(len(content))] ^= 1 << dice.IntN(8)
			one.content, one.children = content, nil
		}
	}
}
