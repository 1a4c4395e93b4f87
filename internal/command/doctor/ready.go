package doctor

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/config"
)

// readyTime is how long a server may take to reply that it is ready.
const readyTime = 5 * time.Second

// maxReady is the maximum number of bytes that are read from the reply.
const maxReady = 1 << 20

// Ready returns one finding: whether the server of the database accepts requests. It changes nothing. A
// settings file with errors does not matter, because a running server does not use such a file.
func Ready(ctx context.Context, p Program) Findings {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	d := &doctor{program: p}
	d.checkReady(ctx)
	return d.Findings
}

func (d *doctor) checkReady(ctx context.Context) {
	const check, start = "server", "start askback serve"
	file, err := d.program.Settings()
	if err != nil {
		file = config.Config{}
		if src, err := os.ReadFile(d.program.Config); err == nil {
			file.Database = config.DatabaseOf(src, os.LookupEnv)
		}
	}
	path, err := d.program.Database(file)
	if err != nil {
		d.Fail(check, "", "%v", err)
		return
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // At would create the folder
		d.Fail(check, start, "no server has the database: %v", err)
		return
	}
	place, err := instance.At(path)
	if err != nil {
		d.Fail(check, "correct the link", "%v", err)
		return
	}
	server, ok := place.Last()
	if !ok {
		d.Fail(check, start, "no server has the database %s", place.Database)
		return
	}
	status, problem, err := readiness(ctx, server)
	switch {
	case err != nil:
		d.Fail(check, start, "no server replies at %s: %v", server.URL, err)
	case status != http.StatusOK:
		d.Fail(check, "its log has more", "the server at %s is not ready (%d): %s", server.URL, status, problem)
	default:
		d.OK(check, "the server at %s is ready", server.URL)
	}
}

// readiness returns the status of /readyz, and the problem if the server is not ready.
func readiness(ctx context.Context, server instance.Server) (status int, problem string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/readyz", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	client := server.Client()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	var reply struct{ Title, Detail string }
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxReady))
	if err != nil {
		return 0, "", err
	}
	if json.Unmarshal(raw, &reply) != nil || reply.Title+reply.Detail == "" {
		return res.StatusCode, http.StatusText(res.StatusCode), nil
	}
	if reply.Detail == "" {
		return res.StatusCode, reply.Title, nil
	}
	return res.StatusCode, reply.Detail, nil
}
