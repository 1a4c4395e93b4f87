package webpushtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// claims are the claims of a server about itself and its request (RFC 8292, section 2).
type claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Subject  string `json:"sub"`
}

// checkSender returns a rejection unless the header Authorization is valid for a service with this origin.
// The server must have the key want, with which the browser subscribed.
func checkSender(header, origin string, want []byte, now time.Time) *rejection {
	c, key, why := readSender(header)
	switch expires := time.Unix(c.Expires, 0); {
	case why != "":
		return &rejection{http.StatusUnauthorized, why}
	case c.Audience != origin:
		return &rejection{http.StatusForbidden, "the token is for " + c.Audience}
	case !now.Before(expires):
		return &rejection{http.StatusForbidden, "the token has expired"}
	case expires.Sub(now) > 24*time.Hour:
		return &rejection{http.StatusForbidden, "the token is valid for more than a day"}
	case !strings.HasPrefix(c.Subject, "mailto:") && !strings.HasPrefix(c.Subject, "https://"):
		return &rejection{http.StatusForbidden, "the token has no subject"} // Apple's service requires a subject
	case !bytes.Equal(key, want):
		return &rejection{http.StatusForbidden, "the key does not belong to the subscription"}
	}
	return nil
}

// readSender returns the claims and the key in a header. If the header is malformed or its signature is
// wrong, it returns the problem.
func readSender(header string) (c claims, key []byte, why string) {
	fields, ok := strings.CutPrefix(header, "vapid ")
	if !ok {
		return c, nil, "the scheme is not vapid"
	}
	parameters := map[string]string{}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		parameters[name] = value
	}
	key, err := decode(parameters["k"])
	if err != nil || len(key) != 65 || key[0] != 4 {
		return c, nil, "k is no point in base64url"
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key)
	if err != nil {
		return c, nil, "k is not on the curve"
	}
	parts := strings.Split(parameters["t"], ".")
	if len(parts) != 3 {
		return c, nil, "t is no token of three parts"
	}
	var kind struct {
		Algorithm string `json:"alg"`
	}
	head, badHead := decode(parts[0])
	content, badContent := decode(parts[1])
	signature, badSignature := decode(parts[2])
	if badHead != nil || badContent != nil || badSignature != nil || json.Unmarshal(head, &kind) != nil ||
		json.Unmarshal(content, &c) != nil {
		return c, nil, "t cannot be decoded"
	}
	if kind.Algorithm != "ES256" || len(signature) != 64 {
		return c, nil, "t is not signed with ES256"
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return c, nil, "the signature is wrong"
	}
	return c, key, ""
}
