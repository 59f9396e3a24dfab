package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"unicode"

	"github.com/org/pr-review-action/internal/problem"
)

var (
	// ErrAddress reports an address that no request can go to, whatever is allowed.
	ErrAddress = problem.Sentinel("not the address of a server", "write https://HOST with its path, or http:// for "+
		"this machine, without user or password: credentials have inputs and variables of their own")
	// ErrInsecure reports an http address that is not allowed.
	ErrInsecure = problem.Sentinel("not an https address",
		"use https, or set allow-http: true (--allow-http): credentials and texts are then sent in the clear")
	// ErrForbidden reports the address of a machine's metadata service or another link-local one: this program
	// talks to nothing there, and credentials of the machine are there.
	ErrForbidden = problem.Sentinel("link-local and metadata addresses are refused",
		"name the address of the service itself")
)

// CheckURL parses the address of an endpoint: https, or http on loopback, or any http with allowHTTP. It refuses
// addresses that contain a user or password. Its errors do not contain the query.
func CheckURL(raw string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil && strings.ContainsFunc(raw, unicode.IsSpace):
		return nil, fmt.Errorf("%w: there is a blank or a line break in it", ErrAddress)
	case err != nil: // which may quote a password
		return nil, fmt.Errorf("%w: it does not parse", ErrAddress)
	}
	return u, checkURL(u, allowHTTP)
}

func checkURL(u *url.URL, allowHTTP bool) error {
	host := u.Hostname()
	switch {
	case u.User != nil:
		return fmt.Errorf("%w: it has a user or password before %s", ErrAddress, u.Host)
	case host == "" || u.Scheme != "https" && u.Scheme != "http":
		typed, _ := url.PathUnescape(bareURL(u))
		return fmt.Errorf("%w: %.200q", ErrAddress, typed)
	case isForbiddenHost(host):
		return fmt.Errorf("%w: %s", ErrForbidden, host)
	case u.Scheme == "https" || allowHTTP || Loopback(host):
		return nil
	}
	return fmt.Errorf("%w: %s", ErrInsecure, bareURL(u))
}

// Refused reports whether an error is about an address to which nothing was sent.
func Refused(err error) bool {
	return errors.Is(err, ErrAddress) || errors.Is(err, ErrInsecure) || errors.Is(err, ErrForbidden)
}

// bareURL returns an address without user, query and fragment, fit to be shown.
func bareURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// Clean removes the query from the address in a *url.Error, where the standard client leaves it: a signed address
// is a credential. It returns err itself.
func Clean(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		failed.URL, _, _ = strings.Cut(failed.URL, "?")
	}
	return err
}

// withAdvice adds to a connection's error what to do about it.
func withAdvice(err error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return problem.As(problem.Failed, err,
			"let SSL_CERT_FILE name a file with the certificate of who signs for that server, such as a proxy")
	}
	_, dialled := errors.AsType[*net.OpError](err)
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	_, garbled := errors.AsType[tls.RecordHeaderError](err)
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	if (dialled || ended || garbled || refused) && !errors.Is(err, ErrForbidden) {
		return problem.As(problem.Failed, err,
			"check that this machine can reach that server, through HTTPS_PROXY if there is a proxy; run it again")
	}
	return err
}

// Loopback reports whether a host, without port, is this machine.
func Loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func isForbiddenHost(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "metadata.google.internal") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	switch ip.String() {
	case "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "0.0.0.0", "::":
		return true
	}
	return ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast()
}

// refuseForbidden checks the address that a name resolved to: an attacker's name may point at the metadata
// service.
func refuseForbidden(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("reading the address to dial: %w", err)
	}
	if isForbiddenHost(host) {
		return fmt.Errorf("%w: %s", ErrForbidden, host)
	}
	return nil
}
