package appserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// maxMessage is the maximum size of a message. The items of a turn contain the output of
// commands.
const maxMessage = 256 << 20

// writeTime is how long connecting may take, and how long sending a message may take.
const writeTime = 10 * time.Second

// Socket returns the path of the socket on which the daemon of Codex listens. home is the value of
// CODEX_HOME; if it is "", the path is in the user's home folder.
func Socket(home string) (string, error) {
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		home = filepath.Join(user, ".codex")
	}
	return filepath.Join(home, "app-server-control", "app-server-control.sock"), nil
}

// errNoDaemon is the error if no daemon listens on the socket.
var errNoDaemon = errors.New("no daemon of Codex is running")

// dial connects to the socket at path. The error is errNoDaemon if no daemon listens on the socket.
func dial(ctx context.Context, path string) (*websocket.Conn, error) {
	dialer := websocket.Dialer{
		HandshakeTimeout: writeTime,
		NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}
	conn, _, err := dialer.DialContext(ctx, "ws://localhost/", nil)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, errNoDaemon
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	conn.SetReadLimit(maxMessage)
	return conn, nil
}
