package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Restart kills the server with SIGKILL and starts another server. It returns when the new server owns the
// database, which another process may have taken over.
func (p *Instance) Restart() {
	p.t.Helper()
	p.Kill()
	p.Start()
	p.until("the new server owns the database", func() error {
		holder, err := p.holder()
		if err != nil {
			return err
		}
		if holder.PID != p.server.Process.Pid {
			return fmt.Errorf("process %d owns it", holder.PID)
		}
		return nil
	})
}

// A holder is the process that owns the database of an instance.
type holder struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
}

// holder returns the process that owns the database.
func (p *Instance) holder() (holder, error) {
	raw, err := os.ReadFile(filepath.Join(p.Home, "state", "askback", "server.json"))
	if err != nil {
		return holder{}, err
	}
	var h holder
	return h, json.Unmarshal(raw, &h)
}

// Idle waits until no call waits for an answer. The server has then received all cancellations.
func (p *Instance) Idle() {
	p.t.Helper()
	if p.operatorToken == "" {
		p.operatorToken = strings.TrimSpace(p.Run("token", "add", "--kind", "operator", "--name", "metrics"))
	}
	p.until("no call waits", func() error {
		h, err := p.holder()
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(p.t.Context(), "GET", h.URL+"/metrics", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+p.operatorToken)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusNotFound {
			// askback mcp, which owns the database, has no metrics. It reads cancellations in order.
			<-time.After(300 * time.Millisecond)
			return nil
		}
		text, err := io.ReadAll(res.Body)
		if err == nil && !strings.Contains(string(text), "\naskback_waiting_calls 0\n") {
			err = fmt.Errorf("status %d, not askback_waiting_calls 0", res.StatusCode)
		}
		return err
	})
}
