package channels_test

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/egress"
)

// If a test message reached no service, the text does not mention a rejection. The text names the parts to
// check, such as the address.
func TestUnreachableServiceIsNotCalledARejection(t *testing.T) {
	for want, err := range map[string]error{
		"cannot be reached: lookup ntfy.example: no such host; check the address and the network": egress.NoReply(
			&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "ntfy.example", IsNotFound: true}}),
		"cannot be reached: the connection was refused; check the address, and that the service runs": fmt.Errorf(
			"post: %w", egress.NoReply(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})),
		"did not accept the message for phone: no": errors.New("no"),
	} {
		if got := channels.NotSent("phone", err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
