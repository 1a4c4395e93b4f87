package main

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/askback/askback/internal/egress"
)

// debugHeaderTime is how long a client of the debug server may take to send a header.
const debugHeaderTime = 10 * time.Second

// checkDebugAddress returns an error unless an address is on loopback. Profiles contain the
// command line and the stacks of the server, and the debug server has no log-in.
func checkDebugAddress(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil || !egress.IsLoopback(address) {
		return usage("--debug-listen must be a loopback address and port, as in 127.0.0.1:6060")
	}
	return nil
}

// serveDebug serves the profiles of this process (net/http/pprof) until stop is called. The address must be
// on loopback. If address is "", serveDebug does nothing.
func serveDebug(address string, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	if err := checkDebugAddress(address); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if !egress.IsLoopback(ln.Addr().String()) { // the machine resolves localhost to another address
		return nil, errors.Join(checkDebugAddress(ln.Addr().String()), ln.Close())
	}
	server := &http.Server{
		Handler: debugHandler(), ReadHeaderTimeout: debugHeaderTime,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the debug server has stopped", "error", err)
		}
	}()
	log.Info("serving profiles", "address", "http://"+ln.Addr().String()+"/debug/pprof/")
	return func() {
		_ = server.Close() // ends profiles in progress
		<-done
	}, nil
}

// debugHandler returns the handler of the debug server. It rejects requests for other hosts, which a page
// could send by DNS rebinding, and requests from pages of other sites (T28).
func debugHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !egress.IsLoopback(r.Host) {
			http.Error(w, "this server does not serve this host name; use a loopback address",
				http.StatusMisdirectedRequest)
			return
		}
		switch r.Header.Get("Sec-Fetch-Site") {
		case "", "none", "same-origin":
			mux.ServeHTTP(w, r)
		default:
			http.Error(w, "requests from other sites are rejected; open the address directly", http.StatusForbidden)
		}
	})
}
