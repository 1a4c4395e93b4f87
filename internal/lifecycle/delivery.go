package lifecycle

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
)

// Send requires that a delivery is sent. The delivery belongs to the ask or, without AskID, to the session.
// Send is performed after the commit, at least once.
type Send struct {
	ID        string // the id of the delivery
	AskID     string
	SessionID string
	Due       time.Time // not sent before this time; zero for no delay
	At        time.Time
}

func (Send) effect() {}

// Sent records that the receiver of a delivery has accepted the delivery. Receipt is the service's id of the
// message, or "".
type Sent struct {
	ID      string
	Receipt string
	At      time.Time
}

// ReceiptGiven records the service's id of the message of a delivery, before the delivery is complete.
type ReceiptGiven struct{ ID, Receipt string }

// Skipped records that a delivery is no longer needed. Attempts is the number of attempts that may have been
// made but were not recorded.
type Skipped struct {
	ID       string
	Attempts int
	At       time.Time
}

// SendFailed records that an attempt to send a delivery failed. The next attempt is at Retry. If Retry is
// zero, the delivery is given up.
type SendFailed struct {
	ID    string
	Error string
	Retry time.Time
	At    time.Time
}

// SendAgain queues a delivery that was given up. If another delivery to its receiver is queued, the delivery
// waits. Its attempts are counted from 0 again. Its old effect must be deleted in the same commit, because a
// queued delivery gets a new effect.
type SendAgain struct {
	ID string
	At time.Time
}

// A Receiver is a phone or a chat room that gets the question and its outcome.
type Receiver struct {
	Channel string
	Name    string // name of the receiver in the settings of the channel
	Person  string // the only person who reads the messages; "" if several people do
	// NotBefore is the end of the person's quiet hours, or zero if they are over. A question or a reminder
	// waits until then.
	NotBefore time.Time
}

// ReceiversAdded sends the question to receivers, and later its outcome. A receiver that already has the
// question gets nothing new, and a settled ask is not sent.
type ReceiversAdded struct {
	Receivers []Receiver
	At        time.Time
}

func (Sent) input()           {}
func (ReceiptGiven) input()   {}
func (Skipped) input()        {}
func (SendFailed) input()     {}
func (SendAgain) input()      {}
func (ReceiversAdded) input() {}

// channelWebhook is the name of the channel to the callback of an ask or a session.
const channelWebhook = "webhook"

// ToCallback reports whether a delivery goes to the callback of its ask or session, and not to a person.
func ToCallback(d askback.Delivery) bool { return d.Channel == channelWebhook }

func receiversAdded(s AskState, in ReceiversAdded) (Result[AskState], error) {
	r := unchanged(s)
	if s.Ask.Settled() {
		return r, nil
	}
	for _, to := range in.Receivers {
		if slices.ContainsFunc(r.State.Deliveries,
			func(d askback.Delivery) bool { return d.Channel == to.Channel && d.Target == to.Name }) {
			continue
		}
		r.Unchanged = false
		r.Effects = append(r.Effects, r.State.addDelivery(to, askback.EventQuestionPending, in.At)...)
		added := r.State.Deliveries[len(r.State.Deliveries)-1]
		r.History = append(r.History, Event{Type: askback.EventDeliveryQueued, Delivery: &added})
	}
	return r, nil
}

// addDelivery adds a delivery to a receiver. If the delivery is sent now, addDelivery returns its effect.
func (s *AskState) addDelivery(to Receiver, event askback.EventType, at time.Time) []Effect {
	return addDelivery(&s.Deliveries, askback.Delivery{
		ID: deliveryID(s.Ask.ID, len(s.Deliveries), digitsOf(s.Ask.ID)), AskID: s.Ask.ID, SessionID: s.Ask.SessionID,
		Channel: to.Channel, Target: to.Name, Person: to.Person, Event: event, At: at,
		RetryAt: to.NotBefore,
	})
}

// receivers returns the receivers that have the question, without the callback. Receivers that lost the
// question are omitted.
func (s AskState) receivers() (all []Receiver) {
	for _, d := range s.Deliveries {
		if to := (Receiver{Channel: d.Channel, Name: d.Target, Person: d.Person}); d.Channel != channelWebhook &&
			!slices.ContainsFunc(all, to.same) {
			all = append(all, to)
		}
	}
	return slices.DeleteFunc(all, func(to Receiver) bool {
		last, _ := s.lastTo(to)
		return last.Event == askback.EventQuestionReassigned
	})
}

// deliver adds deliveries for the events in r that open or settle the ask. Each event is delivered to the
// callback of the ask, if any, and to each other receiver.
func deliver(r Result[AskState], at time.Time) Result[AskState] {
	s := &r.State
	all := s.receivers()
	if s.Callback != "" {
		all = append([]Receiver{{Channel: channelWebhook, Name: originOf(s.Callback)}}, all...)
	}
	for _, h := range r.History {
		if h.Type != askback.EventQuestionPending && !h.Type.Settles() {
			continue
		}
		for _, to := range all {
			r.Effects = append(r.Effects, s.addDelivery(to, h.Type, at)...)
		}
	}
	return r
}

// maxSessionDeliveries is the maximum number of deliveries in the record of a session. Each turn that ends
// adds a delivery, so without a maximum the record would grow forever.
const maxSessionDeliveries = 20

// deliverSession adds a delivery to the callback of the session, if any, for the end of the session or of its
// present turn. If the record has the maximum number of deliveries, the oldest delivery that is not queued is
// dropped. If the dropped delivery was waiting, it is recorded as failed.
func deliverSession(r Result[SessionState], at time.Time) Result[SessionState] {
	s := &r.State
	address := s.Receiver()
	if address == "" {
		return r
	}
	for _, h := range slices.Clone(r.History) {
		if !h.Type.EndsSession() {
			continue
		}
		if dropped, ok := dropDelivery(&s.Deliveries, maxSessionDeliveries); ok &&
			dropped.Status == askback.DeliveryWaiting {
			dropped.Status, dropped.At, dropped.Error = askback.DeliveryFailed, at,
				"too many later messages of this session waited"
			dropped.Session = nil
			r.History = append(r.History, Event{Type: askback.EventDeliveryFailed, Delivery: &dropped})
		}
		d := askback.Delivery{
			ID: deliveryID(s.Session.ID, s.Delivered, timeDigits(at)), SessionID: s.Session.ID,
			Channel: channelWebhook, Target: originOf(address), Event: h.Type, At: at,
		}
		if !s.Session.Final() {
			d.Session = h.Session
		}
		s.Delivered++
		r.Effects = append(r.Effects, addDelivery(&s.Deliveries, d)...)
	}
	return r
}

// The functions below handle the deliveries of one record, an ask or a session. Deliveries to one receiver
// are sent in order. Each delivery begins when the previous delivery was sent or given up. Different
// receivers do not wait for each other.

// addDelivery adds the delivery d to list. If a delivery to the receiver of d is sent now, addDelivery
// returns its effect.
func addDelivery(list *[]askback.Delivery, d askback.Delivery) []Effect {
	d.Status = askback.DeliveryWaiting
	*list = append(slices.Clip(*list), d)
	return sendNext(list, d, d.At)
}

// sameReceiver reports whether two deliveries of one record have the same receiver. All deliveries to the
// callback have the same receiver, because its address may change.
func sameReceiver(d, e askback.Delivery) bool {
	return d.Channel == e.Channel && (d.Channel == channelWebhook || d.Target == e.Target)
}

// dropDelivery removes the oldest delivery that is not queued, if list has at least limit deliveries. It
// returns the removed delivery. If no delivery was removed, the second result is false.
func dropDelivery(list *[]askback.Delivery, limit int) (askback.Delivery, bool) {
	i := slices.IndexFunc(*list, func(d askback.Delivery) bool { return d.Status != askback.DeliveryQueued })
	if len(*list) < limit || i < 0 {
		return askback.Delivery{}, false
	}
	dropped := (*list)[i]
	*list = slices.Delete(slices.Clone(*list), i, i+1)
	return dropped, true
}

// sendNext queues the first waiting delivery to the receiver of a delivery and returns its effect. If a
// delivery to this receiver is already queued or no delivery waits, it returns nil.
func sendNext(list *[]askback.Delivery, of askback.Delivery, at time.Time) []Effect {
	if deliveryWith(*list, of, askback.DeliveryQueued) >= 0 {
		return nil
	}
	next := deliveryWith(*list, of, askback.DeliveryWaiting)
	if next < 0 {
		return nil
	}
	*list = slices.Clone(*list)
	d := &(*list)[next]
	d.Status = askback.DeliveryQueued
	return []Effect{Send{ID: d.ID, AskID: d.AskID, SessionID: d.SessionID, Due: d.RetryAt, At: at}}
}

// deliveryWith returns the index of the first delivery that has this status and goes to the same receiver as
// the delivery of. If there is no such delivery, it returns -1.
func deliveryWith(list []askback.Delivery, of askback.Delivery, status askback.DeliveryStatus) int {
	return slices.IndexFunc(list, func(d askback.Delivery) bool { return d.Status == status && sameReceiver(d, of) })
}

// Delivery returns the delivery with this id. It reports false if there is no such delivery.
func (s AskState) Delivery(id string) (askback.Delivery, bool) { return deliveryByID(s.Deliveries, id) }

// Delivery returns the delivery with this id, and the session as it was after the event. It reports false if
// there is no such delivery.
func (s SessionState) Delivery(id string) (askback.Delivery, bool) {
	d, ok := deliveryByID(s.Deliveries, id)
	if ok && d.Session == nil {
		d.Session = &s.Session // the delivery omits a session that has ended, because that session no longer changes
	}
	return d, ok
}

func deliveryByID(list []askback.Delivery, id string) (askback.Delivery, bool) {
	i := slices.IndexFunc(list, func(d askback.Delivery) bool { return d.ID == id })
	if i < 0 {
		return askback.Delivery{}, false
	}
	return list[i], true
}

// deliveryID returns the id of the n-th delivery of a record. The id has the digits of a time, and digits
// that follow from the id of the record.
func deliveryID(record string, n int, digits string) string {
	id := []byte("dlv_" + digits)
	sum := sha256.Sum256([]byte(record + "/" + strconv.Itoa(n)))
	for _, b := range sum[:idRandom] {
		id = append(id, idAlphabet[b&31])
	}
	return string(id)
}

// An id has digits for its time, and random digits.
const (
	idTime, idRandom = 10, 16
	idAlphabet       = "0123456789abcdefghjkmnpqrstvwxyz"
)

// digitsOf returns the digits for the time in an id.
func digitsOf(id string) string {
	_, digits, _ := strings.Cut(id, "_")
	return digits[:min(idTime, len(digits))]
}

// timeDigits returns the digits for the time at in an id.
func timeDigits(at time.Time) string {
	var digits [idTime]byte
	for i, ms := len(digits)-1, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>5 {
		digits[i] = idAlphabet[ms&31]
	}
	return string(digits[:])
}

// originOf returns the scheme and the host of an address, in lower case, or "" for an invalid address. The
// rest of the address may be secret.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// FirstDelivery returns the delivery of the question to the receiver of another delivery, or the zero
// Delivery. A receiver that lost the question and got it again has several such deliveries. FirstDelivery
// then returns the last of them that is not later than the delivery of.
func (s AskState) FirstDelivery(of askback.Delivery) (first askback.Delivery) {
	for _, d := range s.Deliveries {
		if d.Event == askback.EventQuestionPending && sameReceiver(d, of) {
			first = d
		}
		if d.ID == of.ID {
			break
		}
	}
	return first
}

// delivered steps a record with [Sent], [ReceiptGiven], [Skipped], [SendFailed] or [SendAgain]. If the status
// of the delivery differs from the status that the input requires, the input is a repeat and changes nothing.
func delivered[S any](s S, list func(*S) *[]askback.Delivery, in Input) (Result[S], error) {
	before, next := s, list(&s)
	var h *Event
	var err error
	ends := true
	switch in := in.(type) {
	case Sent:
		h, err = endDelivery(next, in.ID, in.At, askback.EventDeliverySent, func(d *askback.Delivery) {
			d.Status, d.Error, d.Session = askback.DeliverySent, "", nil
			d.Receipt = cmp.Or(in.Receipt, d.Receipt)
		})
	case ReceiptGiven:
		if d, _ := deliveryByID(*next, in.ID); d.Receipt == in.Receipt {
			return unchanged(before), nil
		}
		h, err = changeDelivery(next, in.ID, askback.DeliveryQueued, "",
			func(d *askback.Delivery) { d.Receipt = in.Receipt })
		if err == nil && h != nil {
			return changed(s), nil // the history has no such event, because the delivery is not complete
		}
	case Skipped:
		h, err = changeDelivery(next,
			in.ID, askback.DeliveryQueued, askback.EventDeliverySkipped, func(d *askback.Delivery) {
				d.Attempts, d.At, d.RetryAt = max(d.Attempts, in.Attempts), in.At, time.Time{}
				d.Status, d.Error = askback.DeliverySkipped, ""
			})
	case SendFailed:
		if ends = in.Retry.IsZero(); ends {
			h, err = endDelivery(next, in.ID, in.At, askback.EventDeliveryFailed, func(d *askback.Delivery) {
				d.Status, d.Error = askback.DeliveryFailed, in.Error
			})
			break
		}
		h, err = changeDelivery(next,
			in.ID, askback.DeliveryQueued, askback.EventDeliveryFailed, func(d *askback.Delivery) {
				d.Attempts, d.At, d.RetryAt, d.Error = d.Attempts+1, in.At, in.Retry, in.Error
			})
	case SendAgain:
		h, err = changeDelivery(next,
			in.ID, askback.DeliveryFailed, askback.EventDeliveryQueued, func(d *askback.Delivery) {
				d.Status, d.At, d.Attempts = askback.DeliveryWaiting, in.At, 0
			})
	}
	if err != nil || h == nil {
		return unchanged(before), err
	}
	var effects []Effect
	if ends {
		effects = sendNext(next, *h.Delivery, h.Delivery.At)
		d, _ := deliveryByID(*next, h.Delivery.ID)
		h.Delivery.Status = d.Status // if the delivery is sent again, its status is queued or waiting
	}
	r := changed(s, *h)
	r.Effects = effects
	return r, nil
}

// endDelivery ends a queued delivery, counts its last attempt, and returns the event.
func endDelivery(
	list *[]askback.Delivery, id string, at time.Time, event askback.EventType, end func(*askback.Delivery),
) (*Event, error) {
	return changeDelivery(list, id, askback.DeliveryQueued, event, func(d *askback.Delivery) {
		d.Attempts, d.At, d.RetryAt = d.Attempts+1, at, time.Time{}
		end(d)
	})
}

// changeDelivery changes a delivery that has this status, and returns its event. If the delivery has another
// status, nothing changes, and the event is nil. Without a delivery of this id, the error is
// [askback.ErrNotFound].
func changeDelivery(
	list *[]askback.Delivery, id string, status askback.DeliveryStatus, event askback.EventType,
	change func(*askback.Delivery),
) (*Event, error) {
	i := slices.IndexFunc(*list, func(d askback.Delivery) bool { return d.ID == id })
	switch {
	case i < 0:
		return nil, fmt.Errorf("delivery %q: %w", id, askback.ErrNotFound)
	case (*list)[i].Status != status:
		return nil, nil
	}
	*list = slices.Clone(*list)
	change(&(*list)[i])
	d := (*list)[i]
	d.Session = nil // the history already has the session
	return &Event{Type: event, Delivery: &d}, nil
}
