package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/store/sqlite"
)

// sealEndpoint makes a database with an endpoint whose two secrets are encrypted with a key.
func sealEndpoint(t *testing.T, key func() ([]byte, error)) (database string) {
	t.Helper()
	database = filepath.Join(t.TempDir(), "askback.db")
	db, err := sqlite.Open(database, nil)
	if err != nil {
		t.Fatal(err)
	}
	channel := channels.Must(webhook.New(webhook.Options{Secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}))
	e := engine.New(db, &engine.Options{Channels: map[string]engine.Channel{"webhook": channel}, SecretKey: key})
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	made, _, err := bot.CreateEndpoint(t.Context(), askback.EndpointRequest{URL: "https://agents.example.com"})
	if err == nil {
		_, _, err = bot.RotateEndpoint(t.Context(), made.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return database
}

// askback doctor reports a key of secrets that is missing, readable by others, or different from the key that
// encrypted the secrets in the database (T23).
func TestDoctorChecksTheKeyOfSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "askback")
	path := filepath.Join(dir, connection.SecretKeyFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tokens, err := connection.ReadTokens(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	check := func(database, want string) {
		t.Helper()
		about, err := inspect(t.Context(), database, false)
		if err != nil {
			t.Fatal(err)
		}
		d := &doctor{program: Program{StateDir: func() (string, error) { return dir, nil }}}
		d.checkSecrets(about.withSecrets)
		if got := d.lastFinding(); len(d.Findings) != 1 || !strings.HasPrefix(got, want) {
			t.Errorf("got %+v, want %q", d.Findings, want)
		}
	}
	plain := sealEndpoint(t, nil)
	check(plain, "ok|secrets|no key is needed yet")
	sealed := sealEndpoint(t, tokens.SecretKey)
	check(sealed, "ok|secrets|only this user can read "+path+", and it decrypts all secrets in the database (2)")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	check(sealed, "FAIL|secrets|other users have access to "+path+" (0640)|chmod 600 ")
	key, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	check(sealed,
		"FAIL|secrets|"+path+" has no key, and the database has 2 secrets that it encrypted|restore it from the backup")
	if _, err := tokens.SecretKey(); err != nil { // another key
		t.Fatal(err)
	}
	check(sealed,
		"FAIL|secrets|"+path+" cannot decrypt the secrets of 1 record in the database|restore it from the backup")
	check(plain, "ok|secrets|only this user can read "+path)
	if err := os.WriteFile(path, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(sealed, "FAIL|secrets|"+path+" has no key: restore it")
	if err := os.WriteFile(path, key, 0o600); err != nil {
		t.Fatal(err)
	}
	check(sealed, "ok|secrets|")
}

// askback doctor warns if a phone cannot open the links in the messages of a channel.
func TestDoctorWarnsOfChannelsWithoutAPublicURL(t *testing.T) {
	for url, want := range map[string]string{
		"": "warn|channels|channels.email, channels.telegram: public_url is not set",
		"http://127.0.0.1:7575": "warn|channels|channels.email, channels.telegram: public_url is " +
			"http://127.0.0.1:7575, which only this machine reaches",
		"https://ask.example.com": "ok|channels|channels.email, channels.telegram: messages link to " +
			"https://ask.example.com",
	} {
		d := &doctor{file: config.Config{PublicURL: url}}
		d.checkChannels()
		d.file.Channels = map[string]channels.Settings{"webhook": webhook.Settings{}} // a program needs no link
		d.checkChannels()
		if len(d.Findings) != 0 {
			t.Errorf("%q: without a channel for people: got %+v", url, d.Findings)
		}
		d.file.Channels["telegram"], d.file.Channels["email"] = telegram.Settings{}, email.Settings{}
		d.checkChannels()
		if got := d.lastFinding(); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s, want %s", url, got, want)
		}
	}
}
