package fresh

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Listen listens on a loopback address inside the system, such as 127.0.0.1:443.
func (s *System) Listen(t testing.TB, address string) net.Listener {
	t.Helper()
	pid, err := s.inside()
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		net.Listener
		err error
	}
	done := make(chan result)
	go func() {
		// A socket stays in the namespace of the thread that made it. The thread is not unlocked, so it ends
		// with the goroutine, and no other goroutine runs in the namespace.
		runtime.LockOSThread()
		fd, err := unix.Open(filepath.Join("/proc", pid, "ns/net"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Setns(fd, unix.CLONE_NEWNET)
			_ = unix.Close(fd)
		}
		if err != nil {
			done <- result{err: err}
			return
		}
		l, err := net.Listen("tcp", address)
		done <- result{l, err}
	}()
	r := <-done
	if r.err != nil {
		t.Fatalf("listen on %s in the fresh system: %v", address, r.err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r.Listener
}

// Serve serves https://host/ inside the system, with a certificate that the programs of the system trust. All
// hosts of a system are served by one call.
func (s *System) Serve(t testing.TB, handlers map[string]http.Handler) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test of Askback"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for host := range handlers {
		cert.DNSNames = append(cert.DNSNames, host)
		s.write(t, "/etc/hosts", "127.0.0.1 "+host+"\n")
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "/usr/local/share/ca-certificates/test.crt",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	s.Run(t, "root", "update-ca-certificates >&2")
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if h := handlers[r.Host]; h != nil {
				h.ServeHTTP(w, r)
				return
			}
			http.Error(w, "this test does not serve "+r.Host, http.StatusNotFound)
		}),
		ErrorLog: log.New(t.Output(), "", 0),
	}
	l := tls.NewListener(s.Listen(t, "127.0.0.1:443"), &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	})
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
}
