package egress

import (
	"fmt"
	"net/netip"
	"testing"
)

// notPublic are ranges that are not public, each with some of its addresses.
var notPublic = map[string][]string{
	"this host": {"0.0.0.0", "0.0.0.1", "0.255.255.255"},
	"private": {
		"10.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.20.10.2", "172.31.255.255", "192.168.0.1",
		"192.168.1.254", "192.168.255.255",
	},
	"carrier":    {"100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255"},
	"loopback":   {"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.255"},
	"link-local": {"169.254.0.1", "169.254.169.254", "169.254.170.2", "169.254.255.255"},
	"protocols":  {"192.0.0.1", "192.0.0.8", "192.0.0.170", "192.0.0.255"},
	"documentation": {
		"192.0.2.1", "192.0.2.255", "198.51.100.1", "198.51.100.255", "203.0.113.1", "203.0.113.255",
	},
	"relays":     {"192.88.99.1", "192.88.99.255"},
	"benchmarks": {"198.18.0.1", "198.19.255.255"},
	"multicast":  {"224.0.0.1", "224.0.0.251", "232.1.1.1", "239.255.255.255"},
	"reserved":   {"240.0.0.1", "250.1.2.3", "255.255.255.254", "255.255.255.255"},
	"loopback 6": {"::1", "::"},
	"unique local 6": {
		"fc00::1", "fd00::1", "fd12:3456:789a::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fd00:ec2::254",
	},
	"link-local 6":       {"fe80::1", "fe80::ffff:1", "febf::1"},
	"site-local 6":       {"fec0::1", "feff::1"},
	"multicast 6":        {"ff00::1", "ff02::1", "ff0e::1"},
	"documentation 6":    {"2001:db8::1", "2001:db8:ffff::1", "3fff::1"},
	"Teredo":             {"2001::1", "2001:0:7f00:1::1"},
	"benchmarks 6":       {"2001:2::1"},
	"discard":            {"100::1"},
	"translated, local":  {"64:ff9b:1::1", "64:ff9b:1:ffff::1"},
	"segment routing":    {"5f00::1"},
	"IPv4-compatible":    {"::127.0.0.1", "::10.0.0.1", "::169.254.169.254"},
	"outside of unicast": {"4000::1", "8000::1", "c000::1", "e000::1", "200::1"},
}

// spellings returns the forms in which a dialer may get an address. These are the address itself and, for an
// IPv4 address, its forms in the IPv6 ranges that represent IPv4.
func spellings(t *testing.T, s string) (out []string) {
	t.Helper()
	a, err := netip.ParseAddr(s)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Is4() {
		return []string{a.String()}
	}
	b := a.As4()
	return []string{
		a.String(),
		"::ffff:" + a.String(),     // mapped
		"64:ff9b::" + a.String(),   // NAT64
		"64:ff9b:1::" + a.String(), // local NAT64
		"::" + a.String(),          // compatible
		"::ffff:0:" + a.String(),   // translated
		fmt.Sprintf("2002:%02x%02x:%02x%02x::1", b[0], b[1], b[2], b[3]), // 6to4
	}
}

// An address that is not public is refused in every spelling (T16).
func TestAddressesThatAreNotPublicAreRefused(t *testing.T) {
	g, n := newGuard(nil), 0
	for name, addresses := range notPublic {
		for _, s := range addresses {
			for _, spelled := range spellings(t, s) {
				for _, port := range []uint16{80, 443} {
					at := netip.AddrPortFrom(netip.MustParseAddr(spelled), port)
					network := "tcp4"
					if at.Addr().Is6() {
						network = "tcp6"
					}
					n++
					if err := g.check(network, at.String(), nil); err == nil {
						t.Errorf("%s: %s passes", name, at)
					}
				}
			}
		}
	}
	if n < 400 {
		t.Errorf("only %d spellings were tried", n)
	}
}

func TestPublicAddressesPassOnWebPorts(t *testing.T) {
	g := newGuard(nil)
	for _, c := range []struct {
		network, address string
		passes           bool
	}{
		{"tcp4", "93.184.215.14:443", true},
		{"tcp4", "8.8.8.8:80", true},
		{"tcp6", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443", true},
		{"tcp4", "8.8.8.8:22", false},
		{"tcp4", "8.8.8.8:8080", false},
		{"tcp4", "8.8.8.8:0", false},
		{"tcp6", "[fe80::1%eth0]:443", false},
		{"udp4", "8.8.8.8:443", false},
		{"unix", "/run/docker.sock", false},
		{"tcp4", "", false},
	} {
		if err := g.check(c.network, c.address, nil); (err == nil) != c.passes {
			t.Errorf("%s %s: got %v, want it to pass: %v", c.network, c.address, err, c.passes)
		}
	}
}

// The operator allows ranges, each with one port, in every spelling of IPv4 that a dialer uses.
func TestAllowedAddressesPass(t *testing.T) {
	var allow []Allowed
	for _, s := range []string{"10.1.0.0/16:8080", "127.0.0.1:9000", "[fd00::/8]:8080"} {
		a, err := ParseAllowed(s)
		if err != nil {
			t.Fatal(err)
		}
		allow = append(allow, a)
	}
	g := newGuard(allow)
	for address, passes := range map[string]bool{
		"10.1.2.3:8080": true, "[::ffff:10.1.2.3]:8080": true, "127.0.0.1:9000": true, "[fd12::1]:8080": true,
		"10.1.2.3:8081": false, "10.2.0.1:8080": false, "127.0.0.2:9000": false, "127.0.0.1:80": false,
		"[fc00::1]:8080":           false,
		"[64:ff9b::10.1.2.3]:8080": false,
	} {
		if err := g.check("tcp4", address, nil); (err == nil) != passes {
			t.Errorf("%s: got %v, want it to pass: %v", address, err, passes)
		}
	}
}

func TestMalformedAllowedIsRejected(t *testing.T) {
	for _, s := range []string{
		"", "10.0.0.0/8", "10.0.0.0/8:", "10.0.0.0/8:0", "10.0.0.0/8:65536", "10.0.0.0/33:80", "example.com:80",
		"fd00::/8:80", "[fe80::1%eth0]:80/8", "[::ffff:10.0.0.0/104]:80", "10.0.0.0/8:http",
	} {
		if a, err := ParseAllowed(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, a)
		}
	}
}
