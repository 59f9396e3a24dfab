package githubtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// retention is how long an artifact lives unless the upload says otherwise.
const retention = 90 * 24 * time.Hour

// Artifact is a finished artifact of a run.
type Artifact struct {
	ID        int64
	Name      string
	Size      int64
	Digest    string // sha256:<hex> of the zip
	CreatedAt time.Time
	ExpiresAt time.Time

	run     *Run
	attempt int
	job     string
	blob    string // storage path
	ready   bool   // finalized
	expired bool
	untold  bool // lists do not say which run it is of
}

// AddArtifact puts an artifact into the run's current attempt.
func (run *Run) AddArtifact(name string, zip []byte) *Artifact {
	s := run.repo.s
	defer s.lock()()
	a := s.newArtifact(run, run.attempt, "setup", name)
	s.storage[a.blob].data, s.storage[a.blob].committed = slices.Clone(zip), true
	a.finish()
	return a
}

func (s *Server) newArtifact(run *Run, attempt int, job, name string) *Artifact {
	a := &Artifact{ID: s.nextID(), Name: name, run: run, attempt: attempt, job: job, CreatedAt: s.now(),
		ExpiresAt: s.now().Add(retention)}
	a.blob = fmt.Sprintf("/artifacts/%s/%d.zip", s.backendID("run", run, attempt, ""), a.ID)
	s.storage[a.blob] = &storedBlob{blocks: map[string][]byte{}, kind: "application/zip"}
	s.artifacts = append(s.artifacts, a)
	return a
}

func (a *Artifact) finish() {
	data := a.run.repo.s.storage[a.blob].data
	sum := sha256.Sum256(data)
	a.Size, a.Digest, a.ready = int64(len(data)), "sha256:"+hex.EncodeToString(sum[:]), true
}

// Expire ends the artifact's life: the API lists it as expired and its
// download is gone.
func (a *Artifact) Expire() {
	s := a.run.repo.s
	defer s.lock()()
	a.expired = true
}

// Replace swaps the stored bytes; the digest stays, as after tampering.
func (a *Artifact) Replace(zip []byte) {
	s := a.run.repo.s
	defer s.lock()()
	s.storage[a.blob].data = slices.Clone(zip)
}

// Artifacts are the finished artifacts of a run, oldest first.
func (run *Run) Artifacts() []Artifact {
	s := run.repo.s
	defer s.lock()()
	var out []Artifact
	for _, a := range s.artifacts {
		if a.run == run && a.ready {
			out = append(out, *a)
		}
	}
	return out
}

// Untell leaves out of lists which run stored what the run has stored so far, as GitHub's
// description allows.
func (run *Run) Untell() {
	s := run.repo.s
	defer s.lock()()
	for _, a := range s.artifacts {
		a.untold = a.untold || a.run == run
	}
}

// Zip is what was stored.
func (a Artifact) Zip() []byte {
	s := a.run.repo.s
	defer s.lock()()
	return slices.Clone(s.storage[a.blob].data)
}

func (a *Artifact) gone() bool {
	return a.expired || !a.run.repo.s.now().Before(a.ExpiresAt)
}

func (a *Artifact) json() object {
	r, o := a.run.repo, a.run.options
	var by any = object{"id": a.run.ID, "repository_id": r.ID, "head_repository_id": o.HeadRepo.ID,
		"head_branch": o.HeadBranch, "head_sha": o.HeadSHA}
	if a.untold {
		by = nil
	}
	return object{
		"id": a.ID, "name": a.Name, "size_in_bytes": a.Size,
		"expired": a.gone(), "digest": a.Digest,
		"created_at": a.CreatedAt, "expires_at": a.ExpiresAt,
		"workflow_run": by,
	}
}

// listed are the finished artifacts that match, newest first.
func (c *call) listed(run *Run) []*Artifact {
	name := c.URL.Query().Get("name")
	var found []*Artifact
	for _, a := range c.s.artifacts {
		if a.ready && a.run.repo == c.repo && (run == nil || a.run == run) && (name == "" || a.Name == name) {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b *Artifact) int { return cmp.Compare(b.ID, a.ID) })
	return found
}

func listRunArtifacts(c *call, run *Run) answer {
	return counted(c, "artifacts", c.listed(run), (*Artifact).json)
}

func listArtifacts(c *call) answer {
	return counted(c, "artifacts", c.listed(nil), (*Artifact).json)
}

func ofArtifact(handle func(*call, *Artifact) answer) func(*call) answer {
	return func(c *call) answer {
		for _, a := range c.s.artifacts {
			if a.ready && a.run.repo == c.repo && fmt.Sprint(a.ID) == c.PathValue("artifact_id") {
				return handle(c, a)
			}
		}
		return notFound()
	}
}

// downloadArtifact redirects to the storage with a signature of one minute.
// It needs a token also where the repository is public.
func downloadArtifact(c *call, a *Artifact) answer {
	switch {
	case c.who.kind == "none":
		return c.forbidden()
	case c.PathValue("archive_format") != "zip":
		return notFound()
	case a.gone():
		return refusal(http.StatusGone, "Artifact has expired")
	}
	return answer{status: http.StatusFound, header: http.Header{"Location": {c.s.sign(a.blob, "r", time.Minute)}}}
}
