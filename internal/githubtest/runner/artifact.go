package runner

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// retention is the lifetime of an artifact unless the upload says otherwise.
const retention = 90 * 24 * time.Hour

// Artifact is a finished artifact of a run.
type Artifact struct {
	ID        int64
	Name      string
	Size      int64
	Digest    string // sha256:<hex> of the zip
	CreatedAt time.Time
	ExpiresAt time.Time

	of       *Run
	attempt  int
	job      string
	blob     string // storage path
	ready    bool   // finalized
	hidesRun bool   // lists do not say which run it is from
}

// Run is what these services know of a workflow run.
type Run struct {
	Host       *fakehttp.Host
	ID         int64
	RunAttempt int    // the current one, from 1
	By         object // the run, as an artifact names it
	Cache      *Cache
	Scope      string      // what the cache keeps its entries under
	ReadOnly   bool        // it may not write to the cache
	Kept       []*Artifact // those whose uploads began, for handlers
}

// AddArtifact adds an artifact to the run's current attempt.
func (r *Run) AddArtifact(name string, zip []byte) *Artifact {
	defer r.Host.Lock()()
	a := r.make("setup", name)
	*a.stored() = fakehttp.Blob{Data: slices.Clone(zip), Kind: "application/zip", Committed: true}
	a.finish()
	return a
}

func (r *Run) make(job, name string) *Artifact {
	a := &Artifact{ID: r.Host.NextID(), Name: name, of: r, attempt: r.RunAttempt, job: job, CreatedAt: r.Host.Now(),
		ExpiresAt: r.Host.Now().Add(retention)}
	a.blob = r.Host.Storage.Put(fmt.Sprintf("/artifacts/%d/%d.zip", r.ID, a.ID), fakehttp.Blob{Kind: "application/zip"})
	r.Kept = append(r.Kept, a)
	return a
}

// Artifacts returns the finished artifacts of a run, oldest first.
func (r *Run) Artifacts() (out []Artifact) {
	defer r.Host.Lock()()
	for _, a := range r.Kept {
		if a.ready {
			out = append(out, *a)
		}
	}
	return out
}

// Untell hides from lists which run stored the artifacts so far, as GitHub's description allows.
func (r *Run) Untell() {
	defer r.Host.Lock()()
	for _, a := range r.Kept {
		a.hidesRun = true
	}
}

func (a *Artifact) stored() *fakehttp.Blob { return a.of.Host.Storage.At(a.blob) }

func (a *Artifact) measure() (size int64, digest string) {
	data := a.stored().Data
	return int64(len(data)), fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

func (a *Artifact) finish() {
	a.Size, a.Digest = a.measure()
	a.ready = true
}

// Expire ends the artifact's life: the API lists it as expired and its download is gone.
func (a *Artifact) Expire() { fakehttp.Do(a.of.Host, func() { a.ExpiresAt = a.of.Host.Now() }) }

// Replace swaps the stored bytes; the digest stays, as after tampering.
func (a *Artifact) Replace(zip []byte) {
	fakehttp.Do(a.of.Host, func() { a.stored().Data = slices.Clone(zip) })
}

// Zip returns the stored bytes.
func (a Artifact) Zip() []byte {
	defer a.of.Host.Lock()()
	return slices.Clone(a.stored().Data)
}

func (a *Artifact) gone() bool { return !a.of.Host.Now().Before(a.ExpiresAt) }

func (a *Artifact) json() object {
	v := object{"id": a.ID, "name": a.Name, "size_in_bytes": a.Size, "expired": a.gone(), "digest": a.Digest,
		"created_at": a.CreatedAt, "expires_at": a.ExpiresAt, "workflow_run": nil}
	if !a.hidesRun {
		v["workflow_run"] = a.of.By
	}
	return v
}

// List answers over REST with the artifacts of a name, or all if none is requested, newest first.
func List(c *http.Request, all []*Artifact) answer {
	name := c.URL.Query().Get("name")
	all = slices.DeleteFunc(slices.Clone(all), func(a *Artifact) bool {
		return !a.ready || name != "" && a.Name != name || a.gone() && a.of.Host.HidesExpired
	})
	slices.SortFunc(all, func(a, b *Artifact) int { return int(b.ID - a.ID) })
	return fakehttp.Counted(c, "artifacts", all, (*Artifact).json)
}

// Download redirects to the storage for one minute.
func (a *Artifact) Download(c *http.Request) answer {
	switch {
	case !a.ready || c.PathValue("archive_format") != "zip":
		return fakehttp.NotFound()
	case a.gone():
		return fakehttp.Refusal(http.StatusGone, "Artifact has expired")
	}
	return fakehttp.Redirect(a.of.Host.Storage.Sign(a.blob, "r", time.Minute))
}
