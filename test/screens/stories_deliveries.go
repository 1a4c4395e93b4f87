package main

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// deliveryStories adds the stories of the page of deliveries, and of the pages of an ask with deliveries.
func deliveryStories(b *book) {
	now := b.frame.Now
	one := func(
		id, ask string, event askback.EventType, status askback.DeliveryStatus, attempts int, age, retry time.Duration,
		failure string,
	) askback.Delivery {
		d := askback.Delivery{
			ID: "dlv_" + id, AskID: b.ids[ask], Channel: "webhook", Target: "https://agents.example.com", Event: event,
			Status: status, Attempts: attempts, At: now.Add(-age), Error: failure,
		}
		if retry > 0 {
			d.RetryAt = now.Add(retry)
		}
		return d
	}
	all := []askback.Delivery{
		one("1", "settled", askback.EventQuestionAnswered, askback.DeliveryWaiting, 0, time.Minute, 0, ""),
		one("2", "settled", askback.EventQuestionPending, askback.DeliveryQueued, 3, 34*time.Minute, 4*time.Minute,
			"the connection was refused"),
		one("3", "form", askback.EventQuestionPending, askback.DeliveryQueued, 0, 0, 0, ""),
		one("4", "denied", askback.EventQuestionAnswered, askback.DeliveryFailed, 10, 26*time.Hour, 0,
			"the reply was 503 Service Unavailable"),
		one("5", "none", askback.EventQuestionExpired, askback.DeliveryFailed, 1, 80*time.Hour, 0,
			"the reply was 410 Gone, so the receiver wants nothing more"),
		{
			ID: "dlv_8", SessionID: b.ids["session"], Channel: "webhook", Target: "https://agents.example.com",
			Event: askback.EventSessionFailed, Status: askback.DeliveryQueued, Attempts: 1, At: now.Add(-time.Minute),
			RetryAt: now.Add(-time.Second), Error: "no reply in 30 s",
		},
		one("6", "withdrawn", askback.EventQuestionCancelled, askback.DeliverySent, 1, 5*time.Hour, 0, ""),
	}
	all = append(all,
		askback.Delivery{
			ID: "dlv_9", AskID: b.ids["form"], Channel: "telegram", Target: "ctc_01jzzzzzzzzzzzzzzzzzzzzzzz",
			Person: "ana", Event: askback.EventQuestionPending, Status: askback.DeliverySent, Attempts: 1,
			At: now.Add(-2 * time.Hour), SeenAt: now.Add(-118 * time.Minute),
		},
		one("a", "settled", askback.EventQuestionAnswered, askback.DeliverySkipped, 0, 3*time.Hour, 0, ""),
		one("b", "form", askback.EventQuestionPending, askback.DeliveryQueued, 0, time.Hour, 0, ""),
		one("c", "denied", askback.EventQuestionAnswered, askback.DeliveryFailed, 1, 4*time.Hour, 0,
			"not sent: this receiver is disabled since 2026-11-02T16:30:00Z, because it answered 410 Gone"),
	)
	for i, status := range []askback.EndpointStatus{askback.EndpointPaused, askback.EndpointDisabled} {
		all[len(all)-2+i].EndpointID, all[len(all)-2+i].EndpointStatus = "whe_01jzzzzzzzzzzzzzzzzzzzzzzz", status
	}
	all[3].Target = "https://ingest.a-very-long-name-of-a-machine.region-1.internal.example.com:8443"
	var views []view.Delivery
	for _, d := range all {
		v := view.DeliveryOf(d, kinds.Titles())
		if d.SessionID != "" {
			views = append(views, v)
			continue
		}
		if d.AskID != "" {
			ask := view.Brief(b.getAsk(d.AskID))
			v.Ask = &ask
		} else {
			v.AskID = view.DeliveryOf(askback.Delivery{AskID: "ask_01jzzzzzzzzzzzzzzzzzzzzzzz"}, nil).AskID
		}
		views = append(views, v)
	}
	f := b.on(pages.DeliveriesPath)
	b.add("Deliveries", "list", pages.DeliveriesPath, pages.Deliveries(f,
		pages.DeliveryList{Deliveries: views, MayRetry: true, Endpoints: true, Sessions: true, Next: "x"}))
	b.add("Deliveries", "held", pages.DeliveriesPath,
		pages.Deliveries(f, pages.DeliveryList{Deliveries: views[7:], MayRetry: true, Endpoints: true}))
	b.add("Deliveries", "sent again", pages.DeliveriesPath, pages.Deliveries(f,
		pages.DeliveryList{Deliveries: views[4:5], MayRetry: true, Status: "failed", Retried: &views[2]}))
	b.add("Deliveries", "never", pages.DeliveriesPath, pages.Deliveries(f, pages.DeliveryList{Never: true}))
	b.add("Deliveries", "all arrived", pages.DeliveriesPath, pages.Deliveries(f, pages.DeliveryList{}))
	b.add("Deliveries", "none", pages.DeliveriesPath, pages.Deliveries(f, pages.DeliveryList{Status: "failed"}))
	settled := view.Of(b.fixture("settled"))
	settled.Deliveries = []view.Delivery{view.DeliveryOf(
		one("7", "settled", askback.EventQuestionPending, askback.DeliverySent, 1, 26*time.Hour, 0, ""), kinds.Titles(),
	), views[3]}
	i := b.inbox
	i.Current = b.ids["settled"]
	b.add("Deliveries", "settled ask", askback.PagePath(i.Current), pages.Settled(b.frame, i, settled))
	open := view.Of(b.fixture("form"))
	open.Deliveries = []view.Delivery{views[1], views[7], views[9]}
	i.Current = b.ids["form"]
	b.add("Deliveries", "open ask", askback.PagePath(i.Current), pages.Ask(b.frame, i, open, view.NewForm(open)))
}

// endpointStories adds the stories of the page of endpoints and of the page of a new secret.
func endpointStories(b *book) {
	now := b.frame.Now
	one := func(id, owner, origin string, status askback.EndpointStatus) askback.Endpoint {
		return askback.Endpoint{
			ID: "whe_01jzzzzzzzzzzzzzzzzzzzzzz" + id, Owner: owner, Origin: origin, Status: status,
			CreatedAt: now.AddDate(0, -2, 0), ChangedAt: now.Add(-26 * time.Hour), SecretAt: now.Add(-50 * time.Hour),
		}
	}
	all := []askback.Endpoint{
		one("1", "deploy-bot", "https://agents.example.com", askback.EndpointActive),
		one("2", "", "https://ingest.a-very-long-name-of-a-machine.region-1.internal.example.com:8443",
			askback.EndpointActive),
		one("3", "planner", "https://planner.example.com", askback.EndpointPaused),
		one("4", "a name of a token that an admin chose and that is much longer than any column of a phone",
			"https://old.example.com", askback.EndpointDisabled),
	}
	all[0].OldSecretUntil = now.Add(22 * time.Hour)
	all[1].SecretAt, all[1].FailingSince = time.Time{}, now.Add(-9*time.Hour)
	all[2].By = "ben"
	all[3].Reason, all[3].FailingSince = "it answered 410 Gone", now.Add(-27*time.Hour)
	var views []view.Endpoint
	for _, e := range all {
		views = append(views, view.OfEndpoint(e))
	}
	f := b.on(pages.EndpointsPath)
	show := func(name string, l pages.EndpointList) {
		b.add("Endpoints", name, pages.EndpointsPath, pages.Endpoints(f, l))
	}
	refused := askback.EndpointTest{
		Code: 503, Duration: 1240 * time.Millisecond, Error: "the reply was 503 Service Unavailable",
	}
	show("list", pages.EndpointList{Endpoints: views, Next: "x", Secrets: true, Result: view.OfTest(all[0].ID,
		askback.EndpointTest{Accepted: true, Code: 204, Duration: 12 * time.Millisecond})})
	show("test failed", pages.EndpointList{Endpoints: views[:2], Result: view.OfTest(all[1].ID, refused)})
	show("removed", pages.EndpointList{Endpoints: views[1:], Result: &view.EndpointResult{
		ID: all[0].ID, Good: true, Word: "Removed", Detail: all[0].Origin,
	}})
	show("none", pages.EndpointList{Status: "paused"})
	show("never", pages.EndpointList{})
	b.add("Endpoints", "new secret", pages.EndpointsPath, pages.NewEndpointSecret(f, pages.EndpointList{}, views[0],
		"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="))
}
