package harness

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A Place is where workers probe: a first address, how many there are from it on, and a port.
type Place struct {
	Port  int32
	first netip.Addr
	room  uint32
}

// parsePlace reads "127.1.0.0/9:8080": from 127.1.0.0 to the end of 127.0.0.0/9. Without bits it is one address.
func parsePlace(text string) (Place, error) {
	address, port, found := cutLast(text, ":")
	number, err := strconv.ParseUint(port, 10, 16)
	if !found || err != nil {
		return Place{}, fmt.Errorf("cannot use %q; want ADDRESS/BITS:PORT", text)
	}
	if !strings.Contains(address, "/") {
		address += "/32"
	}
	prefix, err := netip.ParsePrefix(address)
	if err != nil || !prefix.Addr().Is4() {
		return Place{}, fmt.Errorf("cannot use %q; want an IPv4 network", text)
	}
	first := binary.BigEndian.Uint32(prefix.Addr().AsSlice())
	last := binary.BigEndian.Uint32(prefix.Masked().Addr().AsSlice()) | (1<<(32-prefix.Bits()) - 1)
	return Place{int32(number), prefix.Addr(), last - first + 1}, nil
}

// Address is that of a worker; those that are too many begin again with the first.
func (p Place) Address(worker int) string {
	number := binary.BigEndian.Uint32(p.first.AsSlice()) + uint32(worker)%p.room
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, number))).String()
}

// Faulty workers probe a place of their own, and are to fail.
type Faulty struct {
	Place   Place
	percent int
}

func parseFaulty(text string) (Faulty, error) {
	where, percent, found := cutLast(text, "=")
	number, err := strconv.Atoi(percent)
	if !found || err != nil || number < 0 || number > 100 {
		return Faulty{}, fmt.Errorf("cannot use %q; want ADDRESS/BITS:PORT=PERCENT", text)
	}
	place, err := parsePlace(where)
	return Faulty{place, number}, err
}

// Has says whether a worker is one of them.
func (f Faulty) Has(worker int) bool { return worker%100 < f.percent }

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
