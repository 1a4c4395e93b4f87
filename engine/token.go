package engine

import (
	"context"
	"fmt"

	"github.com/askback/askback"
)

// authorize returns [askback.ErrForbidden] unless the kind of this principal
// may do an action. It is enough for actions that concern no single ask.
func (s *client) authorize(action askback.Action) error { return s.engine.May(s.who, action) }

// CreateToken implements [askback.Tokens].
func (s *client) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	if err := s.authorize(askback.ActTokens); err != nil {
		return askback.Token{}, "", err
	}
	return s.engine.CreateToken(ctx, r)
}

// Tokens implements [askback.Tokens].
func (s *client) Tokens(ctx context.Context) (tokens []askback.Token, err error) {
	if err := s.authorize(askback.ActTokenList); err != nil {
		return nil, err
	}
	err = s.engine.EachToken(ctx, false, func(t askback.Token) { tokens = append(tokens, t) })
	return tokens, err
}

// RevokeToken implements [askback.Tokens].
func (s *client) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	if err := s.authorize(askback.ActTokens); err != nil {
		return askback.Token{}, err
	}
	t, err := s.engine.RevokeToken(ctx, id)
	if err != nil {
		return askback.Token{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return t, nil
}

// LoginSecret implements [askback.Tokens].
func (s *client) LoginSecret(ctx context.Context) (string, error) {
	if err := s.authorize(askback.ActLogin); err != nil {
		return "", err
	}
	return s.engine.LoginSecret(ctx, s.who)
}
