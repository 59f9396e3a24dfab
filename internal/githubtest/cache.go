package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const cachePrefix = "/twirp/github.actions.results.api.v1.CacheService/"

// cacheEntry is an entry of a repository's cache. Entries are never changed.
type cacheEntry struct {
	repo         *Repo
	scope        string // the branch that it is of
	key, version string
	blob         string // storage path
	created      time.Time
	id           int64
	ready        bool // finalized
}

type cacheRequest struct {
	Key     string      `json:"key"`
	Restore []string    `json:"restore_keys"`
	Size    json.Number `json:"size_bytes"`
	Version string      `json:"version"`
}

// CacheKeys are the keys of the finished entries, oldest first.
func (r *Repo) CacheKeys() []string {
	defer r.s.lock()()
	var keys []string
	for _, e := range r.s.cache {
		if e.repo == r && e.ready {
			keys = append(keys, e.key)
		}
	}
	return keys
}

// PlantCache replaces what the entries of a key hold, whatever their version, as
// another workflow of the branch could have written them before.
func (r *Repo) PlantCache(key string, content []byte) {
	defer r.s.lock()()
	for _, e := range r.s.cache {
		if e.repo == r && e.key == key {
			r.s.storage[e.blob].data = slices.Clone(content)
		}
	}
}

// ClearCache evicts every entry.
func (r *Repo) ClearCache() {
	defer r.s.lock()()
	r.s.cache = slices.DeleteFunc(r.s.cache, func(e *cacheEntry) bool { return e.repo == r })
}

func (s *Server) serveCache(w http.ResponseWriter, r *http.Request) {
	handle := map[string]func(*call, cacheRequest) answer{
		"CreateCacheEntry": createCache, "FinalizeCacheEntryUpload": finalizeCache,
		"GetCacheEntryDownloadURL": findCache,
	}[r.PathValue("method")]
	s.exchange(w, r, "api", func(c *call) answer {
		var q cacheRequest
		if a, refused := c.twirp(&q, handle != nil); refused {
			return a
		}
		if q.Key == "" || q.Version == "" || len(q.Key) > 512 || strings.Contains(q.Key, ",") || len(q.Restore) > 9 {
			return invalid("the key or version is not valid")
		}
		return handle(c, q)
	})
}

// cacheScope is the branch whose cache a run writes to. A pull_request run has
// one of its own, which others do not read.
func (run *Run) cacheScope() string {
	if run.options.Event == "pull_request" {
		return "pull/" + run.options.HeadRepo.FullName() + "/" + run.options.HeadBranch
	}
	return run.options.HeadBranch
}

func (run *Run) cacheReadOnly() bool {
	return !run.cacheMode &&
		(run.options.Event == "pull_request_target" || run.options.Event == "issue_comment")
}

// WriteCache lets the run write to the cache whatever its event, as cache-mode:
// write does in its workflow.
func (run *Run) WriteCache() {
	defer run.repo.s.lock()()
	run.cacheMode = true
}

func createCache(c *call, q cacheRequest) answer {
	run := c.who.run
	if run.cacheReadOnly() {
		return ok(object{"ok": false, "message": "cache write denied: the token may only read"})
	}
	for _, e := range c.s.cache {
		if e.repo == run.repo && e.scope == run.cacheScope() && e.key == q.Key && e.version == q.Version {
			return twirpError(http.StatusConflict, "already_exists",
				"cache entry with the same key, version, and scope already exists")
		}
	}
	e := &cacheEntry{repo: run.repo, scope: run.cacheScope(), key: q.Key, version: q.Version, created: c.s.now(),
		id: c.s.nextID()}
	e.blob = fmt.Sprintf("/cache/%d", e.id)
	c.s.storage[e.blob] = &storedBlob{blocks: map[string][]byte{}, kind: "application/octet-stream"}
	c.s.cache = append(c.s.cache, e)
	return ok(object{"ok": true, "signed_upload_url": c.s.sign(e.blob, "w", uploadLife)})
}

func finalizeCache(c *call, q cacheRequest) answer {
	run := c.who.run
	for _, e := range c.s.cache {
		if e.repo != run.repo || e.scope != run.cacheScope() || e.key != q.Key || e.version != q.Version || e.ready {
			continue
		}
		blob := c.s.storage[e.blob]
		if !blob.committed || q.Size.String() != strconv.Itoa(len(blob.data)) {
			return invalid("size_bytes does not match the upload")
		}
		e.ready = true
		return ok(object{"ok": true, "entry_id": strconv.FormatInt(e.id, 10)})
	}
	return twirpError(http.StatusNotFound, "not_found", "cache entry not found")
}

// findCache looks for the key itself, then for the newest entry that begins with
// the key or one of the restore keys, in the run's own scope before the default
// branch's.
func findCache(c *call, q cacheRequest) answer {
	run := c.who.run
	for _, scope := range []string{run.cacheScope(), run.repo.defaultBranch} {
		inScope := slices.DeleteFunc(slices.Clone(c.s.cache), func(e *cacheEntry) bool {
			return !e.ready || e.repo != run.repo || e.scope != scope || e.version != q.Version
		})
		slices.SortStableFunc(inScope, func(a, b *cacheEntry) int { return cmp.Compare(b.id, a.id) })
		for i, key := range append([]string{q.Key, q.Key}, q.Restore...) {
			for _, e := range inScope {
				if e.key == key || i > 0 && strings.HasPrefix(e.key, key) {
					return ok(object{"ok": true, "signed_download_url": c.s.sign(e.blob, "r", uploadLife),
						"matched_key": e.key})
				}
			}
		}
	}
	return ok(object{}) // false is left out
}
