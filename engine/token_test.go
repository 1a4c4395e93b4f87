package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

var admin = askback.Principal{Kind: askback.Admin, Name: "eve", Channel: askback.ChannelTerminal}

// tokenFixture is an engine whose clock the test advances.
type tokenFixture struct {
	*engine.Engine
	store *memstore.Store
	now   atomic.Int64
}

func newTokenFixture() *tokenFixture {
	k := &tokenFixture{store: memstore.New()}
	k.now.Store(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).UnixNano())
	k.Engine = engine.New(k.store, &engine.Options{Now: func() time.Time { return time.Unix(0, k.now.Load()) }})
	return k
}

func (k *tokenFixture) advance(d time.Duration) { k.now.Add(int64(d)) }

func (k *tokenFixture) createToken(t *testing.T, r askback.TokenRequest) (id, secret string) {
	t.Helper()
	made, secret, err := k.As(admin).CreateToken(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID, secret
}

func (k *tokenFixture) wantUnauthorized(t *testing.T, why, secret string) {
	t.Helper()
	if who, err := k.Authenticate(context.Background(), secret); !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("%s: got %+v, %v; want %v", why, who, err, askback.ErrUnauthorized)
	}
}

func (k *tokenFixture) wantPrincipal(t *testing.T, secret string, want askback.Principal) {
	t.Helper()
	got, err := k.Authenticate(context.Background(), secret)
	if got.Token = ""; got != want || err != nil {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

var (
	bot = askback.TokenRequest{Kind: askback.Agent, Name: "bot"}
	ana = askback.TokenRequest{Kind: askback.Responder, Name: "ana", ExpiresIn: time.Hour}
)

// The check of a cached token allocates nothing.
func TestTokenCheckAllocatesNothing(t *testing.T) {
	k := newTokenFixture()
	_, secret := k.createToken(t, ana)
	check := func() {
		if _, err := k.Authenticate(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, check); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// A token works until it expires or is revoked. Revocation takes effect immediately (F4).
func TestTokenExpiresAndIsRevoked(t *testing.T) {
	k := newTokenFixture()
	id, forGood := k.createToken(t, bot)
	_, hour := k.createToken(t, ana)
	k.wantPrincipal(t, forGood, askback.Principal{Kind: askback.Agent, Name: "bot", Channel: askback.ChannelAPI})
	k.advance(time.Hour - time.Millisecond)
	k.wantPrincipal(t, hour, askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelAPI})
	k.advance(time.Millisecond)
	k.wantUnauthorized(t, "expired", hour)
	for range 2 { // a second revocation changes nothing
		if _, err := k.As(admin).RevokeToken(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		k.wantUnauthorized(t, "revoked", forGood)
	}
	k.wantUnauthorized(t, "made up", "askback_"+strings.Repeat("A", 43))
	k.wantUnauthorized(t, "empty", "")
}

// The record of a token does not contain its secret, and the key of the record is not accepted as a secret
// (T23).
func TestSecretsAreNotStored(t *testing.T) {
	k := newTokenFixture()
	_, secret := k.createToken(t, bot)
	if len(secret) != len("askback_")+43 {
		t.Errorf("a secret looks like %q", secret)
	}
	records, err := k.store.List(context.Background(), store.Query{Kind: "token"})
	if err != nil || len(records) != 1 {
		t.Fatalf("got %d tokens, %v", len(records), err)
	}
	r := records[0]
	if strings.Contains(r.Key+string(r.Fixed)+string(r.State), secret[len("askback_"):]) {
		t.Errorf("the store keeps a secret: %+v", r)
	}
	k.wantUnauthorized(t, "its hash", r.Key)
}

// A log-in link works once until it expires, even if many browsers use it at the same time.
func TestLoginLinkWorksOnce(t *testing.T) {
	k := newTokenFixture()
	ctx := context.Background()
	ben := askback.Principal{Kind: askback.Responder, Name: "ben", Channel: askback.ChannelAPI}
	link, err := k.As(ben).LoginSecret(ctx)
	if err != nil {
		t.Fatal(err)
	}
	k.wantUnauthorized(t, "a link is no token", link)
	var (
		group sync.WaitGroup
		won   atomic.Pointer[string]
		wins  atomic.Int32
	)
	for range 16 {
		group.Go(func() {
			secret, err := k.Login(ctx, link, askback.Browser{})
			switch {
			case err == nil:
				wins.Add(1)
				won.Store(&secret)
			case !errors.Is(err, askback.ErrUnauthorized):
				t.Errorf("got %v, want %v", err, askback.ErrUnauthorized)
			}
		})
	}
	group.Wait()
	if wins.Load() != 1 {
		t.Fatalf("%d browsers were logged in by one link", wins.Load())
	}
	browser := *won.Load()
	k.wantPrincipal(t, browser, askback.Principal{Kind: askback.Responder, Name: "ben", Channel: askback.ChannelWeb})
	late, err := k.As(ben).LoginSecret(ctx)
	if err != nil {
		t.Fatal(err)
	}
	k.advance(limits.LoginTime)
	if _, err := k.Login(ctx, late, askback.Browser{}); !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("a late link: got %v, want %v", err, askback.ErrUnauthorized)
	}
	if err := k.Logout(ctx, browser); err != nil {
		t.Error(err)
	}
	k.wantUnauthorized(t, "logged out", browser)
	if err := k.Logout(ctx, "askback_unknown"); err != nil {
		t.Errorf("log out with an unknown secret: %v", err)
	}
}

// The token of a browser ends with the token that logged it in, and so does an unused log-in
// link.
func TestBrowserTokenEndsWithItsParent(t *testing.T) {
	for name, end := range map[string]func(k *tokenFixture, id string){
		"expired": func(k *tokenFixture, _ string) { k.advance(time.Hour) },
		"revoked": func(k *tokenFixture, id string) {
			if _, err := k.As(admin).RevokeToken(context.Background(), id); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTokenFixture()
			ctx := context.Background()
			id, secret := k.createToken(t, ana)
			who, err := k.Authenticate(ctx, secret)
			if err != nil {
				t.Fatal(err)
			}
			var links [2]string
			for i := range links {
				if links[i], err = k.As(who).LoginSecret(ctx); err != nil {
					t.Fatal(err)
				}
			}
			browser, err := k.Login(ctx, links[0], askback.Browser{})
			if err != nil {
				t.Fatal(err)
			}
			k.wantPrincipal(t, browser,
				askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
			end(k, id)
			k.wantUnauthorized(t, "a browser after its token", browser)
			if _, err := k.Login(ctx, links[1], askback.Browser{}); !errors.Is(err, askback.ErrUnauthorized) {
				t.Errorf("a link after its token: got %v, want %v", err, askback.ErrUnauthorized)
			}
		})
	}
}

// An agent cannot create a log-in link. With a link, the agent could answer its own asks.
func TestAgentGetsNoLoginLink(t *testing.T) {
	k := newTokenFixture()
	agent := askback.Principal{Kind: askback.Agent, Name: "bot"}
	if _, err := k.As(agent).LoginSecret(context.Background()); !errors.Is(err, askback.ErrForbidden) {
		t.Errorf("got %v, want %v", err, askback.ErrForbidden)
	}
}

// Adopt creates a token for an unknown secret. A revoked token with the secret stays revoked.
func TestAdoptDoesNotRestoreRevokedSecret(t *testing.T) {
	k := newTokenFixture()
	ctx := context.Background()
	secret, err := k.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := k.Adopt(ctx, askback.Principal{Kind: bot.Kind, Name: bot.Name, Channel: askback.ChannelAPI},
			secret); err != nil {
			t.Fatal(err)
		}
	}
	k.wantPrincipal(t, secret, askback.Principal{Kind: askback.Agent, Name: "bot", Channel: askback.ChannelAPI})
	tokens, err := k.As(admin).Tokens(ctx)
	if err != nil || len(tokens) != 1 {
		t.Fatalf("got %d tokens, %v; want one", len(tokens), err)
	}
	if _, err := k.As(admin).RevokeToken(ctx, tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := k.Adopt(ctx, askback.Principal{Kind: bot.Kind, Name: bot.Name, Channel: askback.ChannelAPI},
		secret); err != nil {
		t.Fatal(err)
	}
	k.wantUnauthorized(t, "revoked, and adopted again", secret)
}

// A token that is used during its revocation does not stay in the cache.
func TestTokenUsedDuringRevocationIsNotCached(t *testing.T) {
	k := newTokenFixture()
	ctx := context.Background()
	for range 50 {
		id, secret := k.createToken(t, bot)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() { _, _ = k.Authenticate(ctx, secret) })
		}
		group.Go(func() {
			if _, err := k.As(admin).RevokeToken(ctx, id); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
		k.wantUnauthorized(t, "revoked", secret)
	}
}

func TestRunDeletesExpiredToken(t *testing.T) {
	k := newTokenFixture()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	k.createToken(t, ana)
	k.advance(time.Hour)
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		tokens, err := k.As(admin).Tokens(limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(tokens) == 0 {
			break
		}
		<-tick.C
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// MaxOpen limits a hundred concurrent asks. When an ask is settled, another ask can be made.
func TestMaxOpenLimitsConcurrentAsks(t *testing.T) {
	const bound = 10
	e := engine.New(memstore.New(), &engine.Options{MaxOpen: bound})
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ctx := context.Background()
	request := askback.Request{Questions: []askback.Question{{Text: "Again?"}}}
	var made, refused atomic.Int32
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			_, err := agent.Ask(ctx, request)
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, askback.ErrTooMany):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made.Load() != bound || refused.Load() != 100-bound {
		t.Errorf("%d were made and %d refused, want %d and %d", made.Load(), refused.Load(), bound, 100-bound)
	}
	page, err := agent.List(ctx, askback.Query{})
	if err != nil || len(page.Items) != bound {
		t.Fatalf("%d asks are open, %v; want %d", len(page.Items), err, bound)
	}
	for _, a := range page.Items[:3] {
		if _, err := agent.Cancel(ctx, a.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		_, err := agent.Ask(ctx, request)
		if (err == nil) != (i < 3) {
			t.Errorf("ask %d after three were settled: %v", i+1, err)
		}
	}
}

// The last use of a token is listed immediately. The call itself stores nothing: Run stores the last uses of
// all tokens with one change.
func TestLastUseOfTokensIsStoredInBatches(t *testing.T) {
	k := newTokenFixture()
	var ids, secrets []string
	for range 3 {
		id, secret := k.createToken(t, askback.TokenRequest{Kind: askback.Agent, Name: "bot"})
		ids, secrets = append(ids, id), append(secrets, secret)
	}
	unused, _ := k.createToken(t, askback.TokenRequest{Kind: askback.Agent, Name: "bot"})
	k.advance(time.Hour)
	at := time.Unix(0, k.now.Load())
	for range 2 {
		for _, secret := range secrets {
			if _, err := k.Authenticate(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantUsed := func(when string, e *engine.Engine) {
		t.Helper()
		tokens, err := e.As(admin).Tokens(t.Context())
		if err != nil || len(tokens) != 4 {
			t.Fatalf("%s: got %d tokens, %v", when, len(tokens), err)
		}
		for _, token := range tokens {
			if used := token.LastUsedAt; token.ID == unused && !used.IsZero() || token.ID != unused && !used.Equal(at) {
				t.Errorf("%s: %s was last used at %v, want %v", when, token.ID, used, at)
			}
		}
	}
	version := func(id string) int64 {
		t.Helper()
		row, err := k.store.Read(t.Context(), "token", id)
		if err != nil {
			t.Fatal(err)
		}
		return row.Version
	}
	before := version(ids[0])
	wantUsed("before Run", k.Engine)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := k.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := version(ids[0]); got != before+1 {
		t.Errorf("got version %d after Run, want one change after %d", got, before)
	}
	wantUsed("after a restart", engine.New(k.store, nil))
	if err := k.StoreUses(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := version(ids[0]); got != before+1 {
		t.Errorf("got version %d, want no change without a call", got)
	}
	revoked, err := k.As(admin).RevokeToken(t.Context(), ids[0])
	if err != nil || !revoked.LastUsedAt.Equal(at) {
		t.Errorf("revoked: last used at %v, %v, want %v", revoked.LastUsedAt, err, at)
	}
}

// The name of a token must be a possible name of a person, and must not look like another name. Otherwise one
// person could count as two. The names of people have the same rules (T9).
func TestLookAlikeNamesAreRejected(t *testing.T) {
	p := newFixture(t, memstore.New(),
		&engine.Options{Settings: engine.Settings{People: []askback.Person{{Name: "ana"}}}})
	create := func(kind askback.Kind, name string) error {
		_, _, err := p.admin().CreateToken(t.Context(), askback.TokenRequest{Kind: kind, Name: name})
		return err
	}
	for _, name := range []string{"ana", "ben", "José", "агент", "zoe b"} {
		if err := create(askback.Responder, name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := errors.Join(create(askback.Agent, "bot"), create(askback.Agent, "Bot"),
		create(askback.Agent, "ana")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{
		"an\u200ba", "ana ", " ana", "@ana", "..", "a\u00adna", "ana\u3164", "\u202eana", "аna", "ａna", "Ana", "BEN",
		"𝐛en", "zoe\u2060 b", "",
	} {
		for _, kind := range []askback.Kind{askback.Responder, askback.Admin, askback.Operator} {
			if err := create(kind, name); !errors.As(err, new(askback.Invalid)) ||
				!strings.Contains(err.Error(), "/name") {
				t.Errorf("%s %q: got %v", kind, name, err)
			}
		}
		if _, err := p.admin().PutPerson(t.Context(),
			askback.PersonRequest{Name: name}); !errors.As(err, new(askback.Invalid)) {
			t.Errorf("person %q: got %v", name, err)
		}
	}
	if err := create(askback.Agent, "bоt"); !errors.As(err, new(askback.Invalid)) {
		t.Errorf("an agent: got %v", err)
	}
}
