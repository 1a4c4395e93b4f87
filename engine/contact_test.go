package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// chat is a channel to contacts that are linked by a code.
type chat struct{ engine.Channel }

func (chat) CodeTarget(code string) (to, url string) {
	return "@bot", "https://chat.example.com/?start=" + code
}

// browsers is a channel to contacts that are added by their address.
type browsers struct{ engine.Channel }

func (browsers) CheckAddress(address string) (string, error) {
	if address == "bad" {
		return "", askback.Invalid{{Pointer: "/address", Detail: "bad"}}
	}
	return strings.ToLower(address), nil
}

// contactFixture is an engine with channels to contacts, and a clock that the test advances.
type contactFixture struct {
	tokenFixture
	reads counting
}

// counting is a store that counts the calls of Read and ReadKey.
type counting struct {
	*memstore.Store
	reads atomic.Int64
}

func (c *counting) Read(ctx context.Context, kind, id string) (store.Record, error) {
	c.reads.Add(1)
	return c.Store.Read(ctx, kind, id)
}

func (c *counting) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	c.reads.Add(1)
	return c.Store.ReadKey(ctx, kind, key)
}

var sealKey = []byte(strings.Repeat("k", 32))

func newContactFixture(people ...string) *contactFixture { return reopen(memstore.New(), people...) }

// reopen returns a fixture with a new engine on an existing store, which may contain contacts.
func reopen(db *memstore.Store, people ...string) *contactFixture {
	k := &contactFixture{tokenFixture: tokenFixture{store: db}}
	k.reads.Store = db
	k.now.Store(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).UnixNano())
	k.Engine = engine.New(&k.reads, &engine.Options{
		Now: func() time.Time { return time.Unix(0, k.now.Load()) }, Settings: settingsOf(people...),
		Channels: map[string]engine.Channel{
			"telegram": chat{}, "webpush": browsers{}, "post": struct{ engine.Channel }{},
		},
		SecretKey: func() ([]byte, error) { return sealKey, nil },
	})
	return k
}

// settingsOf returns settings in which people may sign in.
func settingsOf(people ...string) (s engine.Settings) {
	s.Issuer = "https://login.example.com"
	for _, name := range people {
		s.People = append(s.People, askback.Person{Name: name, Email: name + "@example.com"})
	}
	return s
}

// link links a chat to a person by a code.
func (k *contactFixture) link(t *testing.T, who askback.Client, address string) askback.Contact {
	t.Helper()
	code, err := who.ContactCode(context.Background(), "telegram")
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.LinkContact(context.Background(), "telegram", code.Code, address, "Ana")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// withToken returns the client of a new token of a person, and the id of the token.
func (k *contactFixture) withToken(t *testing.T, name string, expires time.Duration) (askback.Client, string) {
	t.Helper()
	id, secret := k.createToken(t, askback.TokenRequest{Kind: askback.Responder, Name: name, ExpiresIn: expires})
	p, err := k.Authenticate(context.Background(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return k.As(p), id
}

// wantEnded requires that ana has exactly one contact. If ended is true, the contact must be listed as ended
// and its address must be unknown to the engine. Otherwise the contact must be valid.
func (k *contactFixture) wantEnded(t *testing.T, why, channel, address string, ended bool) {
	t.Helper()
	list, err := k.As(admin).Contacts(context.Background())
	if err != nil || len(list) != 1 || list[0].Ended != ended {
		t.Errorf("%s: got contacts %+v, %v; want one, ended: %v", why, list, err, ended)
	}
	_, err = k.ContactAt(context.Background(), channel, address)
	if errors.Is(err, askback.ErrNotFound) != ended {
		t.Errorf("%s: got error %v, want not found: %v", why, err, ended)
	}
	if _, _, err = k.ContactClient(context.Background(), channel, address,
		askback.ChannelPush); errors.Is(err, askback.ErrNotFound) != ended {
		t.Errorf("%s: got error %v of the client, want not found: %v", why, err, ended)
	}
}

// A code links one chat to the person who made the code, once and within ten minutes (F4).
func TestCodeLinksOneContact(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	code, err := anas.ContactCode(ctx, "telegram")
	if err != nil || code.To != "@bot" || !strings.HasSuffix(code.URL, code.Code) || len(code.Code) != 16 {
		t.Fatalf("got %+v, %v", code, err)
	}
	typed := strings.ToLower(code.Code[:4]) + "-" + code.Code[4:8] + " " + code.Code[8:]
	if _, err := k.LinkContact(ctx, "webpush", code.Code, "42", "x"); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("in another channel: got %v, want %v", err, askback.ErrNotFound)
	}
	made, err := k.LinkContact(ctx, "telegram", typed, "42", "Ana")
	if err != nil || made.Person != "ana" || made.Label != "Ana" {
		t.Fatalf("got %+v, %v", made, err)
	}
	if _, err := k.LinkContact(ctx, "telegram", code.Code, "43", "Eve"); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("a second time: got %v, want %v", err, askback.ErrNotFound)
	}
	if got, err := k.ContactAt(ctx, "telegram", "42"); err != nil || got.ID != made.ID {
		t.Errorf("got %+v, %v; want %s", got, err, made.ID)
	}
	code, err = anas.ContactCode(ctx, "telegram")
	if err != nil {
		t.Fatal(err)
	}
	k.advance(limits.ContactCodeTime)
	if _, err := k.LinkContact(ctx, "telegram", code.Code, "44", ""); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("after ten minutes: got %v, want %v", err, askback.ErrNotFound)
	}
}

// The number of valid codes of a person is limited. A further code replaces the oldest code. The store has
// only hashes of codes, and only encrypted addresses.
func TestCodesAndAddressesAreNotStoredInPlainText(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	var codes []string
	for range limits.MaxContactCodes + 1 {
		k.advance(time.Second)
		code, err := anas.ContactCode(ctx, "telegram")
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code.Code)
	}
	if _, err := k.LinkContact(ctx, "telegram", codes[0], "0", ""); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("the oldest code: got %v, want %v", err, askback.ErrNotFound)
	}
	const address = "4242424242"
	if _, err := k.LinkContact(ctx, "telegram", codes[1], address, ""); err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"contact", "contact_code"} {
		rows, err := k.store.List(ctx, store.Query{Kind: kind})
		if err != nil || len(rows) == 0 {
			t.Fatalf("%s: got %d records, %v", kind, len(rows), err)
		}
		for _, row := range rows {
			for _, secret := range append(codes, address) {
				if strings.Contains(fmt.Sprint(row, string(row.Fixed), string(row.State)), secret) {
					t.Errorf("%s %s has %q", kind, row.ID, secret)
				}
			}
		}
	}
}

// After five wrong codes, an address can link no contact for ten minutes, even with a valid code. Other
// addresses are not affected.
func TestWrongCodesFromOneAddressAreLimited(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	code, err := anas.ContactCode(ctx, "telegram")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := k.LinkContact(ctx, "telegram", fmt.Sprint("WRONG", i), "666",
			""); !errors.Is(err, askback.ErrNotFound) {
			t.Fatalf("guess %d: got %v", i, err)
		}
	}
	_, err = k.LinkContact(ctx, "telegram", code.Code, "666", "")
	if retry, ok := errors.AsType[*askback.RetryError](err); !ok || !errors.Is(err, askback.ErrTooFast) ||
		retry.After != 10*time.Minute {
		t.Errorf("got %v, want %v in ten minutes", err, askback.ErrTooFast)
	}
	if _, err := k.LinkContact(ctx, "telegram", code.Code, "42", ""); err != nil {
		t.Errorf("from another address: %v", err)
	}
	k.advance(10 * time.Minute)
	if c := k.link(t, anas, "666"); c.Person != "ana" {
		t.Errorf("ten minutes later: got %+v", c)
	}
}

// A contact ends with the token that added it. The token ends when it is revoked or expires, or when its
// browser is logged out. If only the token of the browser expires, the contact stays valid.
func TestContactEndsWithItsToken(t *testing.T) {
	ctx := context.Background()
	add := func(t *testing.T, who askback.Client) {
		t.Helper()
		if _, err := who.AddContact(ctx,
			askback.ContactRequest{Channel: "webpush", Label: "x", Address: "https://push"}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("revoked", func(t *testing.T) {
		k := newContactFixture()
		anas, token := k.withToken(t, "ana", 0)
		add(t, anas)
		k.wantEnded(t, "before", "webpush", "https://push", false)
		if _, err := k.RevokeToken(ctx, token); err != nil {
			t.Fatal(err)
		}
		k.wantEnded(t, "revoked", "webpush", "https://push", true)
	})
	t.Run("expired", func(t *testing.T) {
		k := newContactFixture()
		anas, _ := k.withToken(t, "ana", time.Hour)
		add(t, anas)
		k.wantEnded(t, "before", "webpush", "https://push", false)
		k.advance(time.Hour)
		k.wantEnded(t, "expired", "webpush", "https://push", true)
	})
	t.Run("browser", func(t *testing.T) {
		k := newContactFixture()
		anas, token := k.withToken(t, "ana", 0)
		secret := loggedIn(t, k, anas)
		p, err := k.Authenticate(ctx, secret)
		if err != nil {
			t.Fatal(err)
		}
		add(t, k.As(p))
		k.advance(limits.BrowserTime)
		k.wantEnded(t, "the token of the browser has expired", "webpush", "https://push", false)
		again := loggedIn(t, k, anas)
		if p, err = k.Authenticate(ctx, again); err != nil {
			t.Fatal(err)
		}
		add(t, k.As(p))
		if err := k.Logout(ctx, again); err != nil {
			t.Fatal(err)
		}
		k.wantEnded(t, "logged out", "webpush", "https://push", true)
		add(t, anas)
		k.wantEnded(t, "added again", "webpush", "https://push", false)
		if _, err := k.RevokeToken(ctx, token); err != nil {
			t.Fatal(err)
		}
		k.wantEnded(t, "revoked", "webpush", "https://push", true)
	})
}

// loggedIn returns the secret of a browser that a client logged in.
func loggedIn(t *testing.T, k *contactFixture, who askback.Client) string {
	t.Helper()
	link, err := who.LoginSecret(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	secret, err := k.Login(context.Background(), link, askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A contact that was added after a sign-in ends when its person leaves the settings. The contact works again
// when the person comes back.
func TestContactEndsWhenPersonLeaves(t *testing.T) {
	k, ctx := newContactFixture("ana"), t.Context()
	secret, err := k.SignIn(ctx, "https://login.example.com", "ana@example.com", askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Authenticate(ctx, secret)
	if err != nil {
		t.Fatal(err)
	}
	k.link(t, k.As(p), "42")
	k.wantEnded(t, "before", "telegram", "42", false)
	code, err := k.As(p).ContactCode(ctx, "telegram")
	if err != nil {
		t.Fatal(err)
	}
	k.Set(settingsOf("bob"))
	if _, err := k.LinkContact(ctx, "telegram", code.Code, "43", ""); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("a code: got %v, want %v", err, askback.ErrNotFound)
	}
	k.wantEnded(t, "without ana", "telegram", "42", true)
	k.Set(settingsOf("ana"))
	k.wantEnded(t, "with ana again", "telegram", "42", false)
}

// A contact that was added without a token ends when its person is not in the settings and has no token.
func TestContactWithoutTokenEndsWhenItsPersonIsUnknown(t *testing.T) {
	k := newContactFixture("ana")
	k.link(t, k.As(askback.Principal{Kind: askback.Responder, Name: "ana"}), "42")
	k.wantEnded(t, "before", "telegram", "42", false)
	k.Set(settingsOf("bob"))
	k.wantEnded(t, "without ana", "telegram", "42", true)
	k.withToken(t, "ana", 0)
	k.wantEnded(t, "with a token", "telegram", "42", false)
}

// A code links no contact if its token was revoked or its browser was logged out after the code was made.
func TestCodeEndsWithItsToken(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, token := k.withToken(t, "ana", 0)
	browser := loggedIn(t, k, anas)
	p, err := k.Authenticate(ctx, browser)
	if err != nil {
		t.Fatal(err)
	}
	of := func(who askback.Client) string {
		code, err := who.ContactCode(ctx, "telegram")
		if err != nil {
			t.Fatal(err)
		}
		return code.Code
	}
	first, second := of(k.As(p)), of(anas)
	if err := k.Logout(ctx, browser); err != nil {
		t.Fatal(err)
	}
	if _, err := k.LinkContact(ctx, "telegram", first, "42", ""); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("logged out: got %v, want %v", err, askback.ErrNotFound)
	}
	if _, err := k.RevokeToken(ctx, token); err != nil {
		t.Fatal(err)
	}
	if _, err := k.LinkContact(ctx, "telegram", second, "42", ""); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("revoked: got %v, want %v", err, askback.ErrNotFound)
	}
}

// An address belongs to one contact only: the contact of the person who last added the address.
func TestAddressBelongsToThePersonWhoAddedItLast(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	bobs, _ := k.withToken(t, "bob", 0)
	first := k.link(t, anas, "42")
	if again := k.link(t, anas, "42"); again.ID != first.ID {
		t.Errorf("the same person again: got %s, want %s", again.ID, first.ID)
	}
	second := k.link(t, bobs, "42")
	if got, err := k.ContactAt(ctx, "telegram", "42"); err != nil || got.Person != "bob" || second.ID == first.ID {
		t.Errorf("got %+v, %v; want a contact of bob", got, err)
	}
	if list, err := anas.Contacts(ctx); err != nil || len(list) != 0 {
		t.Errorf("got contacts %+v, %v of ana; want none", list, err)
	}
	made, err := bobs.AddContact(ctx, askback.ContactRequest{Channel: "webpush", Address: "HTTPS://Push"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := bobs.AddContact(ctx,
		askback.ContactRequest{Channel: "webpush", Address: "https://push"}); err != nil || again.ID != made.ID {
		t.Errorf("an equal address: got %s, %v; want %s", again.ID, err, made.ID)
	}
}

// A person sees and removes only their own contacts. An admin sees and removes all contacts. An agent has no
// contacts.
func TestContactsOfOthersAreHidden(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	bobs, _ := k.withToken(t, "bob", 0)
	c := k.link(t, anas, "42")
	if list, err := bobs.Contacts(ctx); err != nil || len(list) != 0 {
		t.Errorf("bob: got %+v, %v", list, err)
	}
	if _, err := bobs.DeleteContact(ctx, c.ID); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("bob: got %v, want %v", err, askback.ErrNotFound)
	}
	robot := k.As(askback.Principal{Kind: askback.Agent, Name: "ana"})
	_, listed := robot.Contacts(ctx)
	_, added := robot.AddContact(ctx, askback.ContactRequest{Channel: "webpush", Address: "https://push"})
	_, coded := robot.ContactCode(ctx, "telegram")
	_, removed := robot.DeleteContact(ctx, c.ID)
	for i, err := range []error{listed, added, coded, removed} {
		if !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("agent, call %d: got %v, want %v", i, err, askback.ErrForbidden)
		}
	}
	if gone, err := k.As(admin).DeleteContact(ctx, c.ID); err != nil || gone.ID != c.ID {
		t.Errorf("admin: got %+v, %v", gone, err)
	}
	if _, err := k.ContactAt(ctx, "telegram", "42"); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("removed: got %v, want %v", err, askback.ErrNotFound)
	}
}

// A chat cannot be linked by its address alone. The owner of the chat must send a code in the chat.
func TestChatIsAddedOnlyByCode(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	for _, channel := range []string{"telegram", "post", "none", ""} {
		_, err := anas.AddContact(ctx, askback.ContactRequest{Channel: channel, Address: "https://push"})
		if _, ok := errors.AsType[askback.Invalid](err); !ok {
			t.Errorf("add %q: got %v, want it to be invalid", channel, err)
		}
	}
	for _, channel := range []string{"webpush", "post", "none", ""} {
		_, err := anas.ContactCode(ctx, channel)
		if _, ok := errors.AsType[askback.Invalid](err); !ok {
			t.Errorf("code for %q: got %v, want it to be invalid", channel, err)
		}
	}
	_, err := anas.AddContact(ctx, askback.ContactRequest{Channel: "webpush", Address: "bad"})
	if _, ok := errors.AsType[askback.Invalid](err); !ok {
		t.Errorf("got %v, want an invalid address", err)
	}
}

// The number of contacts of a person is limited. Adding a known address again does not count.
func TestContactsAreLimited(t *testing.T) {
	k, ctx := newContactFixture(), t.Context()
	anas, _ := k.withToken(t, "ana", 0)
	bobs, _ := k.withToken(t, "bob", 0)
	for i := range limits.MaxContacts {
		k.link(t, anas, fmt.Sprint(i))
	}
	k.link(t, anas, "0")
	code, err := anas.ContactCode(ctx, "telegram")
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.LinkContact(ctx, "telegram", code.Code, "new", "")
	if _, ok := errors.AsType[askback.Invalid](err); !ok {
		t.Errorf("got %v, want too many contacts", err)
	}
	k.link(t, bobs, "new")
}

// Contacts, their uses and their order survive a restart. With another key, a contact is listed as ended and
// can be removed.
func TestContactsSurviveRestart(t *testing.T) {
	k, ctx := newContactFixture(), context.Background()
	anas, _ := k.withToken(t, "ana", 0)
	k.link(t, anas, "42")
	k.advance(time.Minute)
	if _, err := k.ContactAt(ctx, "telegram", "42"); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	_ = k.Run(stopped) // the engine stores the uses when it stops
	before, err := k.As(admin).Contacts(ctx)
	if err != nil || len(before) != 1 || !before[0].UsedAt.Equal(before[0].CreatedAt.Add(time.Minute)) {
		t.Fatalf("got %+v, %v", before, err)
	}
	k = reopen(k.store)
	if after, err := k.As(admin).Contacts(ctx); err != nil || !slices.Equal(after, before) {
		t.Errorf("got %+v, %v after a restart; want %+v", after, err, before)
	}
	k.wantEnded(t, "after a restart", "telegram", "42", false)
	defer func(old []byte) { sealKey = old }(sealKey)
	sealKey = []byte(strings.Repeat("x", 32))
	k = reopen(k.store)
	k.wantEnded(t, "with another key", "telegram", "42", true)
	if _, err := k.As(admin).DeleteContact(ctx, before[0].ID); err != nil {
		t.Error(err)
	}
}
