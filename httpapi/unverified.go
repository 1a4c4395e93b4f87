package httpapi

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// maxUnverified is the maximum number of webhooks whose bodies are being read before their signatures are
// verified. It limits the memory that senders without a secret can use.
const maxUnverified = 16

// unverified lists the webhooks whose bodies are being read before their signatures are verified. Senders
// without a secret cannot block other senders: if there are too many webhooks, the oldest webhook of the
// source with the most webhooks ends. A complete body is read immediately.
type unverified struct {
	mu  sync.Mutex
	all []*unverifiedBody // oldest first
}

// An unverifiedBody is a body that is being read.
type unverifiedBody struct {
	source  string // the address of the client, or of a proxy in front of this server
	control *http.ResponseController
}

// begin adds the webhook r. If there are too many webhooks, it ends the read of another webhook.
func (u *unverified) begin(w http.ResponseWriter, r *http.Request) *unverifiedBody {
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	b := &unverifiedBody{source, http.NewResponseController(w)}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.all) == maxUnverified {
		i := u.victim(source)
		_ = u.all[i].control.SetReadDeadline(time.Unix(1, 0)) // ends the read
		u.all = slices.Delete(u.all, i, i+1)
	}
	u.all = append(u.all, b)
	return b
}

// victim returns the index of the oldest webhook of the source with the most webhooks. The count includes a
// new webhook of the given source.
func (u *unverified) victim(source string) (oldest int) {
	count := map[string]int{source: 1}
	for _, b := range u.all {
		count[b.source]++
	}
	for i, b := range u.all {
		if count[b.source] > count[u.all[oldest].source] {
			oldest = i
		}
	}
	return oldest
}

// end removes b, whose body was read or could not be read. It reports whether begin has already ended b.
func (u *unverified) end(b *unverifiedBody) (ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.Index(u.all, b)
	if i < 0 {
		return true
	}
	u.all = slices.Delete(u.all, i, i+1)
	return false
}
