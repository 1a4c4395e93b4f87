package codex

// EndsAsk reports whether an event makes an open ask obsolete.
var EndsAsk = endsAsk
