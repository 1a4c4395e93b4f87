package clienttest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Restart kills the server with SIGKILL and starts another. It returns when the
// new server owns the database, which another process may have taken over.
func (p *Instance) Restart() {
	p.t.Helper()
	p.Kill()
	p.Start()
	p.until("the new server owns the database", func() error {
		raw, err := os.ReadFile(filepath.Join(p.Home, "state", "askback", "server.json"))
		if err != nil {
			return err
		}
		var holder struct {
			PID int `json:"pid"`
		}
		if err := json.Unmarshal(raw, &holder); err != nil {
			return err
		}
		if holder.PID != p.server.Process.Pid {
			return fmt.Errorf("process %d owns it", holder.PID)
		}
		return nil
	})
}
