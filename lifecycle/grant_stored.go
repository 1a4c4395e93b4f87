package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/askback/askback"
)

// GrantFormat is the version number of the stored form of grants. [DecodeGrant] rejects
// newer formats.
const GrantFormat = 1

// A grant is stored in two parts like an ask: grantFixed is written once, grantMoving
// with each step. Times are in milliseconds since 1970.
type grantFixed struct {
	Format    int             `json:"v"`
	Owner     string          `json:"owner"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	Server    string          `json:"server,omitempty"`
	Scope     askback.Scope   `json:"scope"`
	Session   string          `json:"session,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	Ask       string          `json:"ask,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Dangerous bool            `json:"dangerous,omitempty"`
	By        string          `json:"by"`
	Created   int64           `json:"created"`
	Expires   int64           `json:"expires"`
	Token     string          `json:"token,omitempty"`
}

type grantMoving struct {
	Format  int   `json:"v"`
	Uses    int   `json:"uses"`
	Revoked int64 `json:"revoked,omitempty"`
	Expired bool  `json:"expired,omitempty"`
}

// EncodeFixed returns the part of the state that is written once, as JSON.
func (s GrantState) EncodeFixed() ([]byte, error) {
	g := s.Grant
	return marshal(grantFixed{
		GrantFormat, g.Owner, g.Agent, g.ToolName, g.Server, g.Scope, g.SessionID, g.Digest, g.AskID, g.Input, g.Dangerous, g.By,
		millis(g.CreatedAt), millis(g.ExpiresAt), g.Token,
	})
}

// Encode returns the part of the state that each step rewrites, as JSON.
func (s GrantState) Encode() ([]byte, error) {
	return marshal(grantMoving{GrantFormat, s.Grant.Uses, millis(s.Grant.RevokedAt), s.Expired})
}

// DecodeGrant returns the state that [GrantState.EncodeFixed] and [GrantState.Encode]
// encoded, in this release or an older one. The arguments id and open are from the record
// of the grant. Older releases stored only in the column open that a grant has expired.
func DecodeGrant(id string, open bool, fixedPart, movingPart []byte) (GrantState, error) {
	var f grantFixed
	var m grantMoving
	err := errors.Join(json.Unmarshal(fixedPart, &f), json.Unmarshal(movingPart, &m))
	if newest := max(f.Format, m.Format); newest > GrantFormat {
		return GrantState{}, fmt.Errorf("grant %s is stored in format %d, and this release reads up to %d: use a newer release", id, newest, GrantFormat)
	}
	if err != nil {
		return GrantState{}, fmt.Errorf("read grant %s: %v", id, err)
	}
	return GrantState{
		Grant: askback.Grant{
			ID: id, Owner: f.Owner, Agent: f.Agent, ToolName: f.Tool, Server: f.Server, Scope: f.Scope, SessionID: f.Session,
			Digest: f.Digest, AskID: f.Ask, Input: f.Input, Dangerous: f.Dangerous, By: f.By, CreatedAt: instant(f.Created),
			ExpiresAt: instant(f.Expires), Uses: m.Uses, RevokedAt: instant(m.Revoked), Token: f.Token,
		},
		Expired: m.Expired || !open && m.Revoked == 0,
	}, nil
}
