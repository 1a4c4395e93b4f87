package conformance

import (
	"errors"

	"github.com/askback/askback"
)

var contacting = []testCase{
	{"ContactsAreForPeople", contactsAreForPeople},
	{"WrongContactsAreRejected", contactsAreChecked},
}

func contactsAreForPeople(f fixture) {
	for _, kind := range []askback.Kind{askback.Responder, askback.Admin} {
		if list, err := f.as(kind, "ana").Contacts(f.ctx()); err != nil || len(list) != 0 {
			f.Errorf("%s: got %v, %v, want no contacts", kind, list, err)
		}
	}
	for _, kind := range []askback.Kind{askback.Agent, askback.Operator} {
		client := f.as(kind, "bot")
		_, listed := client.Contacts(f.ctx())
		_, added := client.AddContact(f.ctx(), askback.ContactRequest{Channel: "webpush", Address: "{}"})
		_, coded := client.ContactCode(f.ctx(), "telegram")
		_, removed := client.DeleteContact(f.ctx(), "ctc_00000000000000000000000000")
		for i, err := range []error{listed, added, coded, removed} {
			if !errors.Is(err, askback.ErrForbidden) {
				f.Errorf("%s, call %d: got %v, want %v", kind, i, err, askback.ErrForbidden)
			}
		}
	}
}

func contactsAreChecked(f fixture) {
	ana := f.person("ana")
	if _, err := ana.DeleteContact(f.ctx(), "ctc_00000000000000000000000000"); !errors.Is(err, askback.ErrNotFound) {
		f.Errorf("an unknown contact: got %v, want %v", err, askback.ErrNotFound)
	}
	_, unknown := ana.AddContact(f.ctx(), askback.ContactRequest{Channel: "pigeon", Label: "roof", Address: "north"})
	_, blank := ana.AddContact(f.ctx(), askback.ContactRequest{Channel: "webpush"})
	_, code := ana.ContactCode(f.ctx(), "pigeon")
	for i, err := range []error{unknown, blank, code} {
		if bad, ok := errors.AsType[askback.Invalid](err); !ok || bad[0].Pointer == "" {
			f.Errorf("call %d: got %v, want a problem with a pointer", i, err)
		}
	}
}
