package people

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/engine/internal/txn"
)

// Principal returns the person with a name as a principal of a channel that has verified the identity of the
// person. The error is [askback.ErrForbidden] if neither the settings nor the API nor a valid token has the
// name.
func (e *Service) Principal(ctx context.Context, name string, via askback.Channel) (askback.Principal, error) {
	ok, err := e.IsPerson(ctx, name)
	if err == nil && !ok {
		err = askback.ErrForbidden
	}
	if err != nil {
		return askback.Principal{}, fmt.Errorf("person %q: %w", name, err)
	}
	return askback.Principal{Kind: askback.Responder, Name: name, Channel: via, Token: nameRoot + name}, nil
}

// IsPerson reports whether a name belongs to a person in the settings or of the API, or to a valid token of a
// person.
func (e *Service) IsPerson(ctx context.Context, name string) (bool, error) {
	s, err := e.current(ctx)
	if err != nil {
		return false, err
	}
	named := slices.ContainsFunc(s.People, func(p askback.Person) bool { return p.Name == name }) ||
		slices.ContainsFunc(s.Receivers, func(r txn.Receiver) bool { return r.Person == name })
	if named || name == "" {
		return named && name != "", nil
	}
	return e.HasPersonToken(ctx, name)
}

// nameRoot begins the root of a principal from [Service.Principal], followed by the name. No id of a token
// has this prefix.
const nameRoot = "name:"

// Root returns the oldest ancestor of a token, as [auth.Authority.Root] does. The token of a
// principal from [Service.Principal] or [Service.ContactPrincipal] is its own root.
func (e *Service) Root(ctx context.Context, token string) (string, error) {
	if strings.HasPrefix(token, nameRoot) || auth.IsSignIn(token) {
		return token, nil
	}
	return e.Authority.Root(ctx, token)
}

// RootValid reports whether a root that [Service.Root] returned for a person is still valid at
// the time now.
func (e *Service) RootValid(ctx context.Context, root, person string, now time.Time) (bool, error) {
	if name, ok := strings.CutPrefix(root, nameRoot); ok {
		return e.IsPerson(ctx, name)
	}
	return e.Authority.RootValid(ctx, root, person, now)
}
