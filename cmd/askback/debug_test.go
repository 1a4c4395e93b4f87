package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The debug server serves loopback hosts only, not a name of an attacker that resolves to
// 127.0.0.1 (T28).
func TestDebugServerRejectsOtherHosts(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:6060":   http.StatusOK,
		"localhost:6060":   http.StatusOK,
		"evil.example":     http.StatusMisdirectedRequest,
		"192.0.2.1:6060":   http.StatusMisdirectedRequest,
		"localhost.evil.x": http.StatusMisdirectedRequest,
	} {
		r := httptest.NewRequest("GET", "/debug/pprof/cmdline", nil)
		r.Host = host
		w := httptest.NewRecorder()
		debugHandler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", host, w.Code, want)
		}
	}
}

// A page of another site could start a profile that lasts for hours (T28).
func TestDebugServerRejectsOtherSites(t *testing.T) {
	for site, want := range map[string]int{
		"": http.StatusOK, "none": http.StatusOK, "same-origin": http.StatusOK,
		"same-site": http.StatusForbidden, "cross-site": http.StatusForbidden,
	} {
		r := httptest.NewRequest("GET", "/debug/pprof/cmdline", nil)
		r.Host = "127.0.0.1:6060"
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		debugHandler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", site, w.Code, want)
		}
	}
}
