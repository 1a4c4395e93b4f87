// Package egress connects to addresses that other people wrote, such as callbacks. It connects only to
// addresses that are public, or that the operator allows. The address is checked when the connection is made,
// so that a name cannot resolve to another address after the check. Errors contain no text of the receiver.
// The package also recognizes hosts that only programs on this machine can reach.
package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"code.dny.dev/ssrf"
)

// An Allowed is a range of addresses and a port to which messages may go although they are
// not public.
type Allowed struct {
	Addresses netip.Prefix
	Port      uint16
}

// ParseAllowed parses addresses and a port, such as "10.1.0.0/16:8080", "127.0.0.1:9000" or
// "[fd00::/8]:8080".
func ParseAllowed(s string) (Allowed, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return Allowed{}, errors.New("is not addresses and a port, as in 10.1.0.0/16:8080")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Allowed{}, fmt.Errorf("%q is not a port from 1 to 65535", port)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return Allowed{netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), uint16(n)}, nil
	}
	p, err := netip.ParsePrefix(host)
	if err != nil || p.Addr().Zone() != "" || p.Addr().Is4In6() {
		return Allowed{}, fmt.Errorf("%q is not an address or a range of addresses, as in 10.1.0.0/16", host)
	}
	return Allowed{p.Masked(), uint16(n)}, nil
}

// A guard determines to which addresses a dialer may connect.
type guard struct {
	allow  []Allowed
	public *ssrf.Guardian
}

func newGuard(allow []Allowed) *guard { return &guard{allow, ssrf.New()} }

// ErrAddress is returned for an address that is neither public nor allowed, and for a name
// that cannot be looked up. Agents read it, so it must not show which private names exist.
var ErrAddress = errors.New("no reply: the host has no address, or no public address; the operator can find the " +
	"cause in the log, and can allow the address in the settings of the channel")

// ErrRefused is returned if no program listens at the address.
var ErrRefused = errors.New("no reply: the connection was refused")

// check is the Control function of a [net.Dialer]. The address is an IP address and a port.
func (g *guard) check(network, address string, conn syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Addr().Zone() != "" {
		return ErrAddress
	}
	for _, a := range g.allow {
		if a.Port == at.Port() && a.Addresses.Contains(at.Addr().Unmap()) {
			return nil
		}
	}
	if g.public.Safe(network, address, conn) != nil {
		return ErrAddress // the error omits the address: a private name may have been chosen to find out its address
	}
	return nil
}
