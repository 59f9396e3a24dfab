package fakehttp

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Storage keeps block blobs by path and serves them only at signed addresses, like Azure's. The caller of
// its methods holds the front's lock.
type Storage struct {
	URL   string // of the host
	Now   func() time.Time
	Key   []byte // of the signatures
	blobs map[string]*Blob
}

// Blob is a block blob. It can be read once it was committed.
type Blob struct {
	Data      []byte
	Kind      string // content type
	Committed bool
	staged    map[string][]byte // blocks by id
}

// Put stores a blob in place of any other, and returns its path.
func (s *Storage) Put(path string, b Blob) string {
	if s.blobs == nil {
		s.blobs = map[string]*Blob{}
	}
	b.staged = map[string][]byte{}
	s.blobs[path] = &b
	return path
}

// At returns the blob at a path; nil if there is none.
func (s *Storage) At(path string) *Blob { return s.blobs[path] }

// Sign returns an address that allows r or w for a while. The signature is padded base64, which must not change.
func (s *Storage) Sign(path, permission string, life time.Duration) string {
	until := Stamp(s.Now().Add(life))
	q := url.Values{"se": {until}, "sp": {permission}, "sr": {"b"}, "sv": {"2025-05-05"},
		"sig": {s.signature(path, permission, until)}}
	return s.URL + path + "?" + q.Encode()
}

func (s *Storage) signature(path, permission, until string) string {
	mac := hmac.New(sha256.New, s.Key)
	fmt.Fprintf(mac, "%s\n%s\n%s", path, permission, until)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func refused(status int, code string) Answer {
	text := fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`,
		code, code)
	return Answer{Status: status, Raw: []byte(text), Kind: "application/xml",
		Header: http.Header{"X-Ms-Error-Code": {code}}}
}

// Serve answers a request for a blob.
func (s *Storage) Serve(r *http.Request, body []byte) Answer {
	q, permission := r.URL.Query(), "r"
	if r.Method == http.MethodPut {
		permission = "w"
	}
	until, _ := time.Parse(time.RFC3339, q.Get("se"))
	blob := s.blobs[r.URL.Path]
	switch {
	case r.Header.Get("Authorization") != "":
		return refused(http.StatusBadRequest, "InvalidAuthenticationInfo")
	case q.Get("sp") != permission, q.Get("sig") != s.signature(r.URL.Path, permission, q.Get("se")),
		!s.Now().Before(until):
		return refused(http.StatusForbidden, "AuthenticationFailed")
	case blob == nil || permission == "r" && !blob.Committed:
		return refused(http.StatusNotFound, "BlobNotFound")
	case permission == "w":
		return blob.put(r, q, body)
	}
	return Answer{Status: http.StatusOK, Raw: blob.Data, Kind: blob.Kind}
}

func (b *Blob) put(r *http.Request, q url.Values, body []byte) Answer {
	if r.ContentLength < 0 {
		return refused(http.StatusLengthRequired, "MissingContentLengthHeader")
	}
	switch q.Get("comp") {
	case "block":
		return b.stage(q.Get("blockid"), body)
	case "blocklist":
		return b.commit(r, body)
	}
	return refused(http.StatusBadRequest, "InvalidQueryParameterValue")
}

// stage stores a block. Ids are base64 of at most 64 bytes and all of one length.
func (b *Blob) stage(id string, body []byte) Answer {
	raw, err := base64.StdEncoding.DecodeString(id)
	if err != nil || len(raw) == 0 || len(raw) > 64 || len(body) == 0 {
		return refused(http.StatusBadRequest, "InvalidQueryParameterValue")
	}
	for other := range b.staged {
		if o, _ := base64.StdEncoding.DecodeString(other); len(o) != len(raw) {
			return refused(http.StatusBadRequest, "InvalidBlobOrBlock")
		}
	}
	b.staged[id] = body
	return Answer{Status: http.StatusCreated}
}

func (b *Blob) commit(r *http.Request, body []byte) Answer {
	var ids struct {
		XMLName xml.Name `xml:"BlockList"`
		Latest  []string `xml:"Latest"`
	}
	if err := xml.Unmarshal(body, &ids); err != nil {
		return refused(http.StatusBadRequest, "InvalidXmlDocument")
	}
	var data bytes.Buffer
	for _, id := range ids.Latest {
		block, staged := b.staged[strings.TrimSpace(id)]
		if !staged {
			return refused(http.StatusBadRequest, "InvalidBlockList")
		}
		data.Write(block)
	}
	b.Data, b.Committed, b.staged = data.Bytes(), true, map[string][]byte{}
	if b.Kind = r.Header.Get("x-ms-blob-content-type"); b.Kind == "" {
		b.Kind = "application/octet-stream"
	}
	return Answer{Status: http.StatusCreated}
}
