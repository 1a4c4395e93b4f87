// Package loopback recognises hosts that only programs on this machine reach.
package loopback

import (
	"net"
	"strings"
)

// IsHost reports whether host is localhost or a loopback address. It may have a
// port, as a Host header and the address of a listener do.
func IsHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if inner, ok := strings.CutPrefix(host, "["); ok {
		host, _ = strings.CutSuffix(inner, "]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
