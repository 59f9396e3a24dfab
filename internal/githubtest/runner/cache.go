package runner

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Cache is the cache of a repository.
type Cache struct {
	Host   *fakehttp.Host
	Common string // the scope that every run reads, the default branch's

	entries []*cacheEntry
}

// cacheEntry never changes.
type cacheEntry struct {
	id    int64
	of    cacheName
	blob  string // storage path
	ready bool   // finalized
}

// cacheName identifies an entry: scope is the branch it belongs to.
type cacheName struct{ scope, key, version string }

type cacheRequest struct {
	Key     string      `json:"key"`
	Restore []string    `json:"restore_keys"`
	Size    json.Number `json:"size_bytes"`
	Version string      `json:"version"`
}

// CacheKeys returns the keys of the finished entries, oldest first.
func (k *Cache) CacheKeys() (keys []string) {
	defer k.Host.Lock()()
	for _, e := range k.entries {
		if e.ready {
			keys = append(keys, e.of.key)
		}
	}
	return keys
}

// PlantCache replaces the content of a key's entries, whatever their version, as another
// workflow of the branch could have written them before.
func (k *Cache) PlantCache(key string, content []byte) {
	defer k.Host.Lock()()
	for _, e := range k.entries {
		if e.of.key == key {
			k.Host.Storage.At(e.blob).Data = slices.Clone(content)
		}
	}
}

// ClearCache evicts every entry.
func (k *Cache) ClearCache() { fakehttp.Do(k.Host, func() { k.entries = nil }) }

func (k *Cache) serve(method string, q cacheRequest, scope string, readOnly bool) answer {
	name := cacheName{scope, q.Key, q.Version}
	switch {
	case q.Key == "" || q.Version == "" || len(q.Key) > 512 || strings.Contains(q.Key, ",") || len(q.Restore) > 9:
		return invalid("the key or version is not valid")
	case method == "GetCacheEntryDownloadURL":
		return k.find(name, q.Restore)
	case method == "FinalizeCacheEntryUpload":
		return k.finalize(name, q.Size)
	case readOnly:
		return fakehttp.OK(object{"ok": false, "message": "cache write denied: the token may only read"})
	}
	return k.create(name)
}

func (k *Cache) create(name cacheName) answer {
	if slices.ContainsFunc(k.entries, func(e *cacheEntry) bool { return e.of == name }) {
		return twirpError(http.StatusConflict, "already_exists",
			"cache entry with the same key, version, and scope already exists")
	}
	e := &cacheEntry{id: k.Host.NextID(), of: name}
	e.blob = k.Host.Storage.Put(fmt.Sprintf("/cache/%d", e.id), fakehttp.Blob{Kind: "application/octet-stream"})
	k.entries = append(k.entries, e)
	return fakehttp.OK(object{"ok": true, "signed_upload_url": k.Host.Storage.Sign(e.blob, "w", uploadLife)})
}

func (k *Cache) finalize(name cacheName, size json.Number) answer {
	at := slices.IndexFunc(k.entries, func(e *cacheEntry) bool { return e.of == name && !e.ready })
	if at < 0 {
		return twirpError(http.StatusNotFound, "not_found", "cache entry not found")
	}
	e := k.entries[at]
	if blob := k.Host.Storage.At(e.blob); !blob.Committed || size.String() != strconv.Itoa(len(blob.Data)) {
		return invalid("size_bytes does not match the upload")
	}
	e.ready = true
	return fakehttp.OK(object{"ok": true, "entry_id": strconv.FormatInt(e.id, 10)})
}

// find looks for the key itself, then for the newest entry that begins with the key or one of
// the restore keys, in the run's own scope before the default branch's.
func (k *Cache) find(name cacheName, restore []string) answer {
	for _, scope := range []string{name.scope, k.Common} {
		for i, key := range append([]string{name.key, name.key}, restore...) {
			for _, e := range slices.Backward(k.entries) {
				if e.ready && e.of.scope == scope && e.of.version == name.version &&
					(e.of.key == key || i > 0 && strings.HasPrefix(e.of.key, key)) {
					return fakehttp.OK(object{"ok": true, "matched_key": e.of.key,
						"signed_download_url": k.Host.Storage.Sign(e.blob, "r", uploadLife)})
				}
			}
		}
	}
	return fakehttp.OK(object{}) // false is omitted
}
