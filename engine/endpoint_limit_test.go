package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store/memstore"
)

// An owner has at most [limits.MaxEndpoints] endpoints. A further endpoint is rejected with an
// [askback.RetryError], and the existing endpoints still get their messages. Another owner is not affected.
func TestEndpointsOfAnOwnerAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		p, ops := newEndpoints(t, memstore.New(), to, engine.Options{})
		defer p.run()()
		create := func(i int, owner string) (askback.Endpoint, error) {
			address := fmt.Sprintf("https://r%d.example.com/", i)
			if i == 1 {
				address = callback
			}
			e, _, err := ops.CreateEndpoint(t.Context(), askback.EndpointRequest{URL: address, Owner: owner})
			return e, err
		}
		var first askback.Endpoint
		for i := range limits.MaxEndpoints {
			e, err := create(i, "bot")
			if err != nil {
				t.Fatalf("endpoint %d: %v", i+1, err)
			}
			if i == 0 {
				first = e
			}
		}
		var retry *askback.RetryError
		if _, err := create(limits.MaxEndpoints, "bot"); !errors.Is(err, askback.ErrTooMany) ||
			!errors.As(err, &retry) {
			t.Errorf("one more: got %v, want ErrTooMany", err)
		}
		if _, err := create(0, "other"); err != nil {
			t.Errorf("another owner: %v", err)
		}
		p.ask(calledBack())
		synctest.Wait()
		wantEvents(t, to.events(), "question_pending")
		if _, err := ops.DeleteEndpoint(t.Context(), first.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := create(limits.MaxEndpoints, "bot"); err != nil {
			t.Errorf("after one was deleted: %v", err)
		}
	})
}
