package webhook

import "github.com/askback/askback/internal/egress"

// An Allowed is a range of addresses to which messages may go although they are not public.
type Allowed = egress.Allowed

// ParseAllowed parses an entry of the setting channels.webhook.allow, such as "10.1.0.0/16:8080".
func ParseAllowed(s string) (Allowed, error) { return egress.ParseAllowed(s) }
