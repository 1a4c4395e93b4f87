package main

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/askback/askback/internal/agents/opencode"
	"github.com/askback/askback/internal/local/instance"
)

type attachOpenCode struct {
	URL    string   `name:"url" default:"http://127.0.0.1:4096" placeholder:"URL" help:"Connect to the OpenCode server at this address, with the password in OPENCODE_SERVER_PASSWORD."`
	Folder []string `complete:"file" placeholder:"DIR" help:"Also ask what is already open in this folder. Repeat for several. The server's own folder is always included."`
}

// Run asks people about the requests of a server of OpenCode until ctx ends. It then withdraws the asks that
// are still open, because OpenCode asks as well.
func (c *attachOpenCode) Run(ctx context.Context, io streams, all *commands) error {
	address, err := url.Parse(c.URL)
	if err != nil || address.Host == "" ||
		address.Scheme != "http" && address.Scheme != "https" || address.User != nil {
		return usage("--url is not the address of a server; write it as in http://127.0.0.1:4096")
	}
	f := &opencode.Follower{
		URL: strings.TrimRight(c.URL, "/"), Note: func(text string) { note(io.err, text) },
		User:     cmp.Or(os.Getenv("OPENCODE_SERVER_USERNAME"), "opencode"),
		Password: os.Getenv("OPENCODE_SERVER_PASSWORD"),
	}
	for _, folder := range c.Folder {
		path, err := filepath.Abs(folder)
		if err != nil {
			return err
		}
		f.Folders = append(f.Folders, path)
	}
	release, err := attachOnce(f.URL, instance.Hold)
	if err != nil {
		return err
	}
	defer release()
	conn, err := all.connector(ctx, io.err, instance.KindAsk)
	if err != nil {
		return err
	}
	f.Asks = attending(conn)
	return thenClose(io, conn, f.Run(ctx))
}
