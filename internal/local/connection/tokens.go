package connection

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/instance"
)

// The token files of the state directory.
const (
	AgentTokenFile = "agent.token"
	UserTokenFile  = "user.token"
)

// SecretKeyFile is the file of the state directory with the key that encrypts the secrets of endpoints in the
// database, and that signs links in messages. If the file is lost, the secrets must be rotated, and earlier
// links and buttons do not work.
const SecretKeyFile = "secrets.key"

// Tokens are the tokens of a command: the tokens of the state directory, which are for the local database
// only, and the token in ASKBACK_TOKEN.
type Tokens struct {
	Given string // the token in ASKBACK_TOKEN, which has priority

	dir         string
	agent, user string // the tokens in the files, or "" if a file does not exist yet
}

// ReadTokens reads the tokens of a state directory. A missing file is not an error. given
// is the token in ASKBACK_TOKEN, or "".
func ReadTokens(dir, given string) (*Tokens, error) {
	t := &Tokens{Given: given, dir: dir}
	return t, t.read()
}

// read reads the tokens that are not known yet.
func (t *Tokens) read() error {
	for path, secret := range map[string]*string{t.agentFile(): &t.agent, t.userFile(): &t.user} {
		if *secret != "" {
			continue
		}
		var err error
		if *secret, err = readToken(path); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tokens) agentFile() string { return filepath.Join(t.dir, AgentTokenFile) }
func (t *Tokens) userFile() string  { return filepath.Join(t.dir, UserTokenFile) }

// readToken returns the token in a file, or "" if the file does not exist.
func readToken(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(raw)), err
}

// Key returns the key that signs the data that MCP clients and browsers keep for the server. The key is
// derived from the user's token, so it is the same after a restart. If the user has no token, Key returns
// nil.
func (t *Tokens) Key() []byte {
	if t.user == "" {
		return nil
	}
	sum := hmac.New(sha256.New, []byte(t.user))
	sum.Write([]byte("askback mcp"))
	return sum.Sum(nil)
}

// SecretKey returns the key in [SecretKeyFile]. It creates the key if the file does not exist. Only the
// process that holds the lock may call it.
func (t *Tokens) SecretKey() ([]byte, error) {
	path := filepath.Join(t.dir, SecretKeyFile)
	for range 2 {
		key, err := ReadSecretKey(t.dir)
		if key != nil || err != nil {
			return key, err
		}
		key = make([]byte, secretKeySize)
		rand.Read(key)
		err = instance.CreateFile(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
		// another process with this directory may have created the key first
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s is empty: delete it to create a new key", path)
}

// ReadSecretKey returns the key in the [SecretKeyFile] of a state directory, or nil if the file
// does not exist or is empty.
func ReadSecretKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, SecretKeyFile)
	raw, err := readToken(path)
	if raw == "" || err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(raw)
	if err != nil || len(key) != secretKeySize {
		return nil, fmt.Errorf(
			"%s has no key: restore it from a backup, or delete it and rotate the secrets of all endpoints", path,
		)
	}
	return key, nil
}

const secretKeySize = 32 // the key size of AES-256

// create creates missing tokens and registers all tokens in the database. If a token cannot be registered
// because the disk is full or its record is damaged, calls with this token fail later. Only the process that
// holds the lock may call create.
func (t *Tokens) create(ctx context.Context, e *engine.Engine) error {
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	for _, token := range []struct {
		secret *string
		path   string
		of     askback.Principal
	}{
		{&t.agent, t.agentFile(), askback.Principal{
			Kind: askback.Agent, Name: askback.LocalAgent, Channel: askback.ChannelTerminal,
		}},
		{&t.user, t.userFile(), localUser()},
	} {
		if *token.secret == "" {
			created, err := createToken(token.path, e)
			if err != nil {
				return err
			}
			*token.secret = created
		}
		err := e.Adopt(ctx, token.of, *token.secret)
		if errors.Is(err, askback.ErrDiskFull) || errors.Is(err, askback.ErrDamaged) {
			err = nil // the other tokens work; a call with this token returns the error
		}
		if err != nil {
			return fmt.Errorf("register %s: %w", token.path, err)
		}
	}
	return nil
}

// createToken creates a token and its file. If another process created the file first, it returns the token
// of that process, because all databases of a state directory share the tokens.
func createToken(path string, e *engine.Engine) (string, error) {
	created, err := e.NewSecret()
	if err != nil {
		return "", err
	}
	err = instance.CreateFile(path, []byte(created+"\n"))
	if !errors.Is(err, os.ErrExist) {
		return created, err
	}
	created, err = readToken(path)
	if created == "" && err == nil {
		err = fmt.Errorf("%s is empty: delete it to create a new token", path)
	}
	return created, err
}

// localUser returns the principal of the user who runs this process.
func localUser() askback.Principal {
	return askback.Principal{Kind: askback.Admin, Name: UserName(), Channel: askback.ChannelTerminal}
}

// UserName returns the name of the user who runs this process, without the domain that it has on Windows. If the
// name is not known, it returns "local user".
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "local user"
}
