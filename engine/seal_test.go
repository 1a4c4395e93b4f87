package engine_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// The encrypted secret of one endpoint is useless in the record of another endpoint. Write access to the
// database is not enough to have messages signed with a known secret (T23).
func TestSecretMovedToOtherEndpointIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, to := memstore.New(), &signingReceiver{}
		p, ops := newEndpoints(t, db, to,
			engine.Options{SecretKey: func() ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }})
		defer p.run()()
		var made []askback.Endpoint
		for _, owner := range []string{"bot", "other"} {
			e, _, err := ops.CreateEndpoint(t.Context(), askback.EndpointRequest{URL: callback, Owner: owner})
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, e)
		}
		rows, err := db.List(t.Context(), store.Query{Kind: "endpoint"})
		if err != nil || len(rows) != 2 {
			t.Fatal(rows, err)
		}
		sealed := regexp.MustCompile(`sealed:[A-Za-z0-9+/]+`)
		first, second := sealed.FindString(string(rows[0].State)), sealed.FindString(string(rows[1].State))
		if first == "" || second == "" {
			t.Fatalf("no secrets in %s and %s", rows[0].State, rows[1].State)
		}
		rows[0].Fixed, rows[0].State = nil, []byte(strings.Replace(string(rows[0].State), first, second, 1))
		if _, err := db.Commit(t.Context(), store.Change{Put: rows[:1]}); err != nil {
			t.Fatal(err)
		}
		for i, e := range made {
			got, err := ops.TestEndpoint(t.Context(), e.ID)
			if moved := e.ID == rows[0].ID; err != nil || strings.Contains(got.Error, "cannot be decrypted") != moved {
				t.Errorf("endpoint %d: got %+v, %v", i, got, err)
			}
		}
	})
}
