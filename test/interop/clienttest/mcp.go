package clienttest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Restart kills the server with SIGKILL and starts another. It returns when that
// one holds the database: whoever was attached may have taken it meanwhile.
func (p *Place) Restart() {
	p.t.Helper()
	p.Kill()
	p.Start()
	p.until("the new server holds the database", func() error {
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
			return fmt.Errorf("process %d does", holder.PID)
		}
		return nil
	})
}
