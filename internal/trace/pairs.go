package trace

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

type pair struct{ key, value string }

// pairs reads a list in the form of W3C Baggage without metadata:
// name=value,name=value, with values percent-encoded. Empty entries are none.
// https://www.w3.org/TR/baggage/#header-content
func (v *variables) pairs(name string) []pair {
	var all []pair
	for i, entry := range strings.Split(v.text(name), ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		key, raw, found := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(raw))
		// Without the = the whole entry may be a credential: it is not repeated.
		if !found || key == "" || err != nil || !utf8.ValidString(key+value) {
			v.refuse(name, fmt.Sprintf("has no name=value, with the value percent-encoded, as its entry %d", i+1))
			return nil
		}
		all = append(all, pair{key, value})
	}
	return all
}

// headers reads the headers of every request to the collector.
func (v *variables) headers(name string) http.Header {
	all := http.Header{}
	for i, p := range v.pairs(name) {
		if !token(p.key) || strings.ContainsFunc(p.value, unicode.IsControl) {
			v.refuse(name, fmt.Sprintf("has an entry, number %d, that cannot be a header", i+1))
			return nil
		}
		all.Set(p.key, p.value)
	}
	return all
}

// token reports whether a text can be the name of a header (RFC 9110, 5.6.2).
func token(s string) bool {
	for _, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return false
		}
	}
	return s != ""
}
