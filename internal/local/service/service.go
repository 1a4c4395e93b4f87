// Package service finds the server that the packages for Linux install, and reports to systemd that it is ready.
package service

import (
	"errors"
	"net"
	"os"
	"os/user"
	"strconv"
)

// The paths of the server in the packages. packaging/systemd/askback.service has them, too.
const (
	stateDir = "/var/lib/askback"
	settings = "/etc/askback/askback.yaml"
)

// StateDir returns the state directory of the server if the server runs as this user: a user other than root
// who owns that directory. Otherwise it returns "".
func StateDir() string {
	if uid, ok := owner(stateDir); ok && uid == os.Geteuid() {
		return stateDir
	}
	return ""
}

// Settings returns the settings file of the server if the server runs as this user and the file exists.
// Otherwise it returns "".
func Settings() string {
	if StateDir() == "" {
		return ""
	}
	if _, err := os.Stat(settings); errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return settings
}

// OtherUser returns the user as whom the server runs. It returns "" for that user, and without a server.
func OtherUser() string {
	uid, ok := owner(stateDir)
	if !ok || uid == os.Geteuid() {
		return ""
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return ""
	}
	return u.Username
}

// Ready reports to systemd that the server is ready, if systemd started it (sd_notify(3)).
func Ready() error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte("READY=1"))
	return errors.Join(err, conn.Close())
}
