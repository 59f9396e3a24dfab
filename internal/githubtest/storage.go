package githubtest

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

// storedBlob is a block blob.
type storedBlob struct {
	blocks    map[string][]byte // staged, by id
	data      []byte
	kind      string // content type
	committed bool
}

// sign makes a URL of the storage that allows an operation, r or w, for a
// while. The signature is base64 with padding, so it has to be kept as it is.
func (s *Server) sign(path, permission string, life time.Duration) string {
	until := stamp(s.now().Add(life))
	q := url.Values{"se": {until}, "sp": {permission}, "sr": {"b"}, "sv": {"2025-05-05"},
		"sig": {s.signature(path, permission, until)}}
	return s.BlobURL + path + "?" + q.Encode()
}

func (s *Server) signature(path, permission, until string) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s\n%s\n%s", path, permission, until)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Server) blobHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.exchange(w, r, "storage", serveBlob)
	})
}

// storageError is the storage's error document.
func storageError(status int, code string) answer {
	text := fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`,
		code, code)
	return answer{status: status, raw: []byte(text), kind: "application/xml",
		header: http.Header{"X-Ms-Error-Code": {code}}}
}

func serveBlob(c *call) answer {
	q := c.URL.Query()
	permission := "r"
	if c.Method == http.MethodPut {
		permission = "w"
	}
	until, _ := time.Parse(time.RFC3339, q.Get("se"))
	blob := c.s.storage[c.URL.Path]
	switch {
	case c.Header.Get("Authorization") != "":
		return storageError(http.StatusBadRequest, "InvalidAuthenticationInfo")
	case q.Get("sp") != permission, !hmac.Equal([]byte(q.Get("sig")),
		[]byte(c.s.signature(c.URL.Path, permission, q.Get("se")))), !c.s.now().Before(until):
		return storageError(http.StatusForbidden, "AuthenticationFailed")
	case blob == nil:
		return storageError(http.StatusNotFound, "BlobNotFound")
	case c.Method == http.MethodPut:
		return blob.put(c, q)
	case c.Method != http.MethodGet && c.Method != http.MethodHead:
		return storageError(http.StatusMethodNotAllowed, "UnsupportedHttpVerb")
	case !blob.committed:
		return storageError(http.StatusNotFound, "BlobNotFound")
	}
	return answer{status: http.StatusOK, raw: blob.data, kind: blob.kind}
}

func (b *storedBlob) put(c *call, q url.Values) answer {
	if c.ContentLength < 0 {
		return storageError(http.StatusLengthRequired, "MissingContentLengthHeader")
	}
	switch q.Get("comp") {
	case "block":
		return b.stage(q.Get("blockid"), c.body)
	case "blocklist":
		return b.commit(c)
	}
	return storageError(http.StatusBadRequest, "InvalidQueryParameterValue")
}

// stage keeps a block. Ids are base64 of at most 64 bytes and of one length.
func (b *storedBlob) stage(id string, body []byte) answer {
	raw, err := base64.StdEncoding.DecodeString(id)
	if err != nil || len(raw) == 0 || len(raw) > 64 {
		return storageError(http.StatusBadRequest, "InvalidQueryParameterValue")
	}
	for other := range b.blocks {
		if o, err := base64.StdEncoding.DecodeString(other); err != nil || len(o) != len(raw) {
			return storageError(http.StatusBadRequest, "InvalidBlobOrBlock")
		}
	}
	if len(body) == 0 {
		return storageError(http.StatusBadRequest, "InvalidHeaderValue")
	}
	b.blocks[id] = body
	return answer{status: http.StatusCreated}
}

// commit makes the blob of the listed blocks, in the order of the list.
func (b *storedBlob) commit(c *call) answer {
	var ids struct {
		XMLName xml.Name `xml:"BlockList"`
		Latest  []string `xml:"Latest"`
	}
	if err := xml.Unmarshal(c.body, &ids); err != nil {
		return storageError(http.StatusBadRequest, "InvalidXmlDocument")
	}
	var data bytes.Buffer
	for _, id := range ids.Latest {
		block, staged := b.blocks[strings.TrimSpace(id)]
		if !staged {
			return storageError(http.StatusBadRequest, "InvalidBlockList")
		}
		data.Write(block)
	}
	b.data, b.committed, b.blocks = data.Bytes(), true, map[string][]byte{}
	b.kind = or(c.Header.Get("x-ms-blob-content-type"), "application/octet-stream")
	return answer{status: http.StatusCreated}
}
