package send

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// kindSend is the kind of the effects that send a delivery. The effect and the delivery have the same id.
const kindSend = "send"

// sendPauses are the pauses after failed attempts to send a delivery. Together they last longer than three
// days, so that a receiver may fail for a weekend.
var sendPauses = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, maxSendPause,
}

// maxSendPause is the maximum pause between two attempts, even if the receiver asks for a longer pause.
const maxSendPause = 24 * time.Hour

// An outgoing is a delivery with all data that sending it needs.
type outgoing struct {
	askback.Delivery
	ask     askback.Ask // the ask; for a delivery about a session, only the address of its page is set
	owner   string      // the owner of the ask or the session
	address string
	reader  string           // the person with this address, or ""
	first   askback.Delivery // the delivery of the question to the same receiver
	gone    bool             // whether the person can no longer answer
}

// outgoing returns the delivery of an effect. The error is [askback.ErrNotFound] if the record of the effect
// has no such delivery.
func (e *Service) outgoing(ctx context.Context, f store.Effect) (o outgoing, err error) {
	var ok bool
	if f.SubjectKind == txn.KindSession {
		s, err := e.sessionState(ctx, f.Subject)
		if err != nil {
			return o, err
		}
		o.owner, o.address = s.Session.Owner, s.Receiver()
		if base := *e.Pages.Load(); base != "" {
			o.ask.PageURL = base + "/sessions/" + s.Session.ID
		}
		o.Delivery, ok = s.Delivery(f.ID)
	} else {
		a, err := e.Read(ctx, f.Subject)
		if err == nil {
			o.Delivery, ok = a.State.Delivery(f.ID)
		}
		if err == nil && o.Status != askback.DeliveryQueued {
			// The delivery was committed, but the ask in the cache may be older.
			if a, err = e.Fetch(ctx, f.Subject); err == nil {
				o.Delivery, ok = a.State.Delivery(f.ID)
			}
		}
		if err != nil {
			return outgoing{}, err
		}
		o.ask, o.owner, o.address, o.reader = a.State.Ask, a.State.Owner, a.State.Callback, a.State.CallbackOf
		if !lifecycle.ToCallback(o.Delivery) {
			o.address, o.first = o.Target, a.State.FirstDelivery(o.Delivery)
		}
	}
	if !ok {
		return o, askback.ErrNotFound
	}
	// contacts are excluded: whether a contact is still valid is checked when its address is read
	if o.Person != "" && !ids.Valid(ids.Contact, o.Target) {
		known, err := e.Contacts.IsPerson(ctx, o.Person)
		o.gone = !known
		return o, err
	}
	return o, nil
}

// contact returns the id of the contact to which a delivery is sent, or "".
func (o outgoing) contact() string {
	if lifecycle.ToCallback(o.Delivery) || !ids.Valid(ids.Contact, o.Target) {
		return ""
	}
	return o.Target
}

// A sentRecord has the deliveries and the owner of an ask or a session, and the address of its webhooks.
type sentRecord struct {
	deliveries     []askback.Delivery
	owner, address string
}

// deliveriesOfRecord returns the deliveries of the record that an effect belongs to.
func (e *Service) deliveriesOfRecord(ctx context.Context, f store.Effect) (sentRecord, error) {
	if f.SubjectKind == txn.KindSession {
		s, err := e.sessionState(ctx, f.Subject)
		return sentRecord{s.Deliveries, s.Session.Owner, s.Receiver()}, err
	}
	a, err := e.Read(ctx, f.Subject)
	if err != nil {
		return sentRecord{}, err
	}
	return sentRecord{a.State.Deliveries, a.State.Owner, a.State.Callback}, nil
}

// queueDelivery adds the effect that sends a delivery.
func queueDelivery(t *txn.Tx, f lifecycle.Send) error {
	kind, subject := txn.KindAsk, f.AskID
	if subject == "" {
		kind, subject = txn.KindSession, f.SessionID
	}
	t.Change.Effects = append(t.Change.Effects, store.Effect{
		ID: f.ID, Kind: kindSend, SubjectKind: kind, Subject: subject, Stream: f.SessionID, Created: f.At, Due: f.Due,
		Data: []byte("{}"),
	})
	return nil
}

// sessionState reads the state of a session.
func (e *Service) sessionState(ctx context.Context, id string) (lifecycle.SessionState, error) {
	row, err := e.Store.Read(ctx, txn.KindSession, id)
	if err != nil {
		return lifecycle.SessionState{}, txn.FromStore(err)
	}
	return txn.DecodeSession(row)
}

// send makes one attempt to send a delivery. If the receiver or the owner is busy, send postpones the
// delivery. It makes no attempt if the delivery is no longer queued or needed, or if its endpoint is not
// active.
func (w *worker) send(ctx context.Context, f store.Effect) attempt {
	e := w.service
	d, err := e.outgoing(ctx, f)
	switch {
	case errors.Is(err, askback.ErrNotFound):
		return attempt{}
	case err != nil:
		return attempt{failed: err, retry: e.Clock().Add(performBackOff(f.Attempts))}
	case d.Status != askback.DeliveryQueued:
		return attempt{}
	}
	if e.ChannelOf(d.Delivery) == nil { // another process may have the channel
		return attempt{retry: e.Clock().Add(performMaxPause)}
	}
	var to lifecycle.EndpointState // the other channels have no endpoints: their receivers are in the settings
	if lifecycle.ToCallback(d.Delivery) {
		to, err = e.endpointOf(ctx, d.owner, d.address)
	}
	if err != nil {
		return attempt{failed: err, retry: e.Clock().Add(performBackOff(f.Attempts))}
	}
	begun := e.Clock()
	if instead, ok := withheld(f, to.Endpoint, begun); ok {
		return instead
	}
	if instead, ok := w.digested(ctx, f, &d, begun); ok {
		return instead
	}
	if reader := d.contact(); reader != "" {
		d.address, err = e.Contacts.ContactAddress(ctx, reader, begun)
	}
	if err != nil {
		return failedAttempt(f, d, begun, err)
	}
	if postponed := w.receivers.begin(d.Target, begun); !postponed.IsZero() {
		return attempt{retry: postponed}
	}
	if postponed := w.owners.begin(d.owner, begun); !postponed.IsZero() {
		w.receivers.release(d.Target)
		return attempt{retry: postponed}
	}
	return w.sendNow(ctx, f, to, d, begun)
}

// sendNow makes one attempt to send a delivery whose receiver and owner are not busy.
func (w *worker) sendNow(
	ctx context.Context, f store.Effect, to lifecycle.EndpointState, d outgoing, begun time.Time,
) attempt {
	e := w.service
	receipt, err := e.sendTo(ctx, f, to, d)
	now := e.Clock()
	w.receivers.end(d.Target, now.Sub(begun))
	w.owners.end(d.owner, now.Sub(begun))
	if reader := d.contact(); reader != "" {
		e.Contacts.ContactReplied(ctx, reader, err, now)
	}
	switch {
	case err == nil:
		w.digests.wasSent(digestKey{d.Channel, d.Target, d.owner}, f.ID)
		return attempt{
			in: lifecycle.Sent{ID: f.ID, Receipt: receipt, At: now}, endpoint: to.Endpoint.ID,
			reply: endpointInput(to, nil, now),
		}
	case ctx.Err() != nil: // this process is stopping; the next process sends the delivery
		return attempt{failed: err, retry: now}
	}
	r := failedAttempt(f, d, now, err)
	r.endpoint, r.reply = to.Endpoint.ID, endpointInput(to, err, now)
	return r
}

// failedAttempt returns the result of an attempt that failed with an error.
func failedAttempt(f store.Effect, d outgoing, now time.Time, err error) attempt {
	r := attempt{failed: err, retry: nextAttempt(now, d.Attempts+1, err)}
	r.in = lifecycle.SendFailed{ID: f.ID, Error: txn.ErrorText(err), Retry: r.retry, At: now}
	return r
}

// sendTo makes one attempt to send a delivery, and returns the receipt. It signs a webhook with the secrets
// of its endpoint.
func (e *Service) sendTo(
	ctx context.Context, f store.Effect, to lifecycle.EndpointState, d outgoing,
) (receipt string, err error) {
	n := askback.Notification{Delivery: d.Delivery, Ask: e.WithPageURL(d.ask.Clone()), Address: d.address}
	if lifecycle.ToCallback(d.Delivery) {
		n.Secrets, err = e.signingSecrets(to, e.Clock())
		if err != nil {
			return "", err
		}
	}
	if d.first.ID != d.ID {
		n.Earlier = d.first.Receipt
	}
	n.Record = func(ctx context.Context, receipt string) error {
		return e.Update(ctx, func(t *txn.Tx) error {
			return stepSubject(t, f, lifecycle.ReceiptGiven{ID: f.ID, Receipt: receipt})
		})
	}
	return e.ChannelOf(d.Delivery).Send(ctx, n)
}

// digested returns the result of an attempt for a delivery that is not sent now, and whether there is such a
// result. A delivery is not sent if its person does not need it, or if it is part of a digest. If the
// delivery is sent, digested sets the number of other questions that the delivery counts.
func (w *worker) digested(ctx context.Context, f store.Effect, d *outgoing, now time.Time) (attempt, bool) {
	key := digestKey{d.Channel, d.Target, d.owner}
	if d.needless() {
		skipped := lifecycle.Skipped{ID: f.ID, Attempts: f.Attempts - 1, At: now}
		if w.digests.forget(key, f.ID) {
			skipped.Attempts = 0
		}
		return attempt{in: skipped}, true
	}
	if lifecycle.ToCallback(d.Delivery) || d.first.ID != d.ID {
		return attempt{}, false
	}
	limit := w.service.Settings.Load().DigestAfter
	if limit > 0 {
		w.restoreDigest(ctx, key, now)
	}
	plan := w.digests.plan(key, f.ID, limit, now)
	d.ask.OthersWaiting = plan.more
	switch {
	case plan.skip:
		return attempt{in: lifecycle.Skipped{ID: f.ID, At: now}}, true
	case !plan.until.IsZero():
		return attempt{retry: plan.until}, true
	}
	return attempt{}, false
}

// needless reports whether a person does not need a delivery. The question and its reminders are needless if
// the ask is settled, or if the person may no longer answer. Later messages are needless if the person never
// got the question. A person's program gets only asks that the person may see.
func (o outgoing) needless() bool {
	if o.AskID == "" {
		return false
	}
	if lifecycle.ToCallback(o.Delivery) {
		return o.reader != "" && !o.ask.Addressed(o.reader)
	}
	if o.first.ID == o.ID || o.Event == askback.EventQuestionReminded {
		return o.gone || o.ask.Settled() || o.Person != "" && !o.ask.Addressed(o.Person)
	}
	return o.first.Status == askback.DeliverySkipped && o.first.Attempts == 0 && o.first.Receipt == ""
}

// nextAttempt returns the time of the next attempt after the n-th failed attempt. If the delivery is given
// up, it returns zero. It adds up to a tenth of the pause at random. So receivers that failed at the same
// time are not called again at the same time.
func nextAttempt(now time.Time, n int, err error) time.Time {
	var sending *askback.SendError
	if errors.As(err, &sending) && sending.Final || n > len(sendPauses) {
		return time.Time{}
	}
	pause := sendPauses[n-1]
	if sending != nil {
		pause = max(pause, min(sending.RetryAfter, maxSendPause))
	}
	return now.Add(pause + rand.N(pause/10)).Truncate(time.Millisecond)
}
