// Package runner is what a runner's jobs talk to with their runtime token: the artifacts of a run and the cache, with
// their contents in the storage of a fake server.
//
// It knows nothing of repositories and workflows. Start reading at Service.Token.
package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Short names for what every handler returns.
type (
	answer = fakehttp.Answer
	object = fakehttp.Object
)

const services = "/twirp/"

const results = services + "github.actions.results.api.v1."

// Service answers the requests that bring a runtime token.
type Service struct {
	host   *fakehttp.Host
	shared bool // attempts see each other's artifacts
	jobs   map[string]*job
}

// job is the job that a runtime token belongs to.
type job struct {
	run     *Run
	attempt int
	name    string
}

// NewService returns the services of a server. With shared, the artifacts of earlier attempts are visible in the next
// one; which of the two GitHub does is not known.
func NewService(h *fakehttp.Host, shared bool) *Service {
	return &Service{h, shared, map[string]*job{}}
}

// Token returns ACTIONS_RUNTIME_TOKEN of a job in the run's current attempt.
func (s *Service) Token(run *Run, name string) string {
	defer s.host.Lock()()
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(fakehttp.Encode(v)) }
	j := &job{run, run.RunAttempt, name}
	token := part(object{"alg": "HS256", "typ": "JWT"}) + "." +
		part(object{"scp": "Actions.ExampleScope Actions.Results:" + s.runID(j) + ":" + s.jobID(run, j.attempt, name),
			"iss": s.host.URL, "exp": s.host.Now().Add(6 * time.Hour).Unix()})
	token += "." + s.host.Digest(token)
	s.jobs[token] = j
	return token
}

// backendID returns an opaque name in the form of a UUID.
func (s *Service) backendID(kind string, run *Run, attempt int, job string) string {
	d := s.host.Digest(kind, fmt.Sprint(run.ID), fmt.Sprint(attempt), job)
	return fmt.Sprintf("%s-%s-%s-%s-%s", d[:8], d[8:12], d[12:16], d[16:20], d[20:32])
}

func (s *Service) runID(j *job) string {
	if s.shared {
		return s.backendID("run", j.run, 0, "")
	}
	return s.backendID("run", j.run, j.attempt, "")
}

func (s *Service) jobID(run *Run, attempt int, name string) string {
	return s.backendID("job", run, attempt, name)
}

// Mount serves the paths of both services.
func (s *Service) Mount(mux *http.ServeMux) {
	mux.Handle("POST "+services, s.host.Handler("api", func(*http.Request, []byte) answer { return badRoute() }))
	for method, handle := range map[string]func(*Service, *job, artifactRequest) answer{
		"CreateArtifact": (*Service).create, "FinalizeArtifact": (*Service).finalize, "ListArtifacts": (*Service).list,
		"GetSignedArtifactURL": (*Service).sign, "DeleteArtifact": (*Service).delete,
	} {
		twirp(s, mux, "ArtifactService/"+method, func(j *job, q artifactRequest) answer {
			if q.Run != s.runID(j) {
				return twirpError(http.StatusForbidden, "permission_denied", "the token is not of this workflow run")
			}
			return handle(s, j, q)
		})
	}
	for _, method := range []string{"CreateCacheEntry", "FinalizeCacheEntryUpload", "GetCacheEntryDownloadURL"} {
		twirp(s, mux, "CacheService/"+method, func(j *job, q cacheRequest) answer {
			return j.run.Cache.serve(method, q, j.run.Scope, j.run.ReadOnly)
		})
	}
}

func twirp[Q any](s *Service, mux *http.ServeMux, path string, handle func(*job, Q) answer) {
	mux.Handle("POST "+results+path, s.host.Handler("api", func(r *http.Request, body []byte) answer {
		var q Q
		j := s.jobs[fakehttp.Token(r)]
		if j == nil {
			return twirpError(http.StatusUnauthorized, "unauthenticated", "a runtime token is required")
		}
		if a, refused := decode(r, body, &q); refused {
			return a
		}
		return handle(j, q)
	}))
}

type artifactRequest struct {
	Run       string      `json:"workflow_run_backend_id"`
	Job       string      `json:"workflow_job_run_backend_id"`
	Name      string      `json:"name"`
	ExpiresAt string      `json:"expires_at"`
	Version   int         `json:"version"`
	MimeType  string      `json:"mime_type"`
	Size      json.Number `json:"size"`
	Hash      string      `json:"hash"`
	Filter    *string     `json:"name_filter"`
}

func (s *Service) seen(j *job) []*Artifact {
	return slices.DeleteFunc(slices.Clone(j.run.Kept), func(a *Artifact) bool {
		return a.attempt != j.attempt && !s.shared
	})
}

// find returns the newest artifact of a name and job that is, or is not, ready.
func (s *Service) find(j *job, q artifactRequest, ready bool) *Artifact {
	for _, a := range slices.Backward(s.seen(j)) {
		if a.Name == q.Name && s.jobID(j.run, a.attempt, a.job) == q.Job && a.ready == ready {
			return a
		}
	}
	return nil
}

func (s *Service) create(j *job, q artifactRequest) answer {
	switch {
	case q.Name == "" || strings.ContainsAny(q.Name, "\":<>|*?\r\n\\/"):
		return invalid("the artifact name is not valid")
	case q.Version < 4:
		return invalid("version is not supported")
	case q.Version >= 7 && q.MimeType == "":
		return invalid("mime_type a valid mime_type is required for this artifact version")
	case q.Job != s.jobID(j.run, j.attempt, j.name):
		return twirpError(http.StatusForbidden, "permission_denied", "the token is not of this job")
	case slices.ContainsFunc(s.seen(j), func(a *Artifact) bool { return a.Name == q.Name }):
		return twirpError(http.StatusConflict, "already_exists",
			"an artifact with this name already exists on the workflow run")
	}
	until, err := time.Parse(time.RFC3339, q.ExpiresAt)
	if q.ExpiresAt != "" && (err != nil || !until.After(s.host.Now())) {
		return invalid("expires_at is not a time to come")
	}
	a := j.run.make(j.name, q.Name)
	if a.attempt = j.attempt; q.ExpiresAt != "" {
		a.ExpiresAt = until.UTC()
	}
	return fakehttp.OK(object{"ok": true, "signed_upload_url": s.host.Storage.Sign(a.blob, "w", uploadLife)})
}

func (s *Service) finalize(j *job, q artifactRequest) answer {
	a := s.find(j, q, false)
	if a == nil {
		return notFound()
	}
	size, digest := a.measure()
	switch {
	case !a.stored().Committed:
		return invalid("the upload is not complete")
	case q.Size.String() != strconv.FormatInt(size, 10):
		return invalid("size does not match the upload")
	case q.Hash != "" && q.Hash != digest:
		return invalid("hash does not match the upload")
	}
	a.finish()
	return fakehttp.OK(object{"ok": true, "artifact_id": strconv.FormatInt(a.ID, 10)})
}

func notFound() answer { return twirpError(http.StatusNotFound, "not_found", "artifact not found") }

func (s *Service) list(j *job, q artifactRequest) answer {
	v := object{} // an empty list is omitted
	var found []object
	for _, a := range s.seen(j) {
		if !a.ready || q.Filter != nil && *q.Filter != a.Name {
			continue
		}
		found = append(found, object{
			"workflow_run_backend_id": q.Run, "workflow_job_run_backend_id": s.jobID(j.run, a.attempt, a.job),
			"database_id": strconv.FormatInt(a.ID, 10), "name": a.Name, "size": strconv.FormatInt(a.Size, 10),
			"created_at": fakehttp.Stamp(a.CreatedAt), "digest": a.Digest,
		})
	}
	if found != nil {
		v["artifacts"] = found
	}
	return fakehttp.OK(v)
}

func (s *Service) sign(j *job, q artifactRequest) answer {
	a := s.find(j, q, true)
	if a == nil || a.gone() {
		return notFound()
	}
	return fakehttp.OK(object{"signed_url": s.host.Storage.Sign(a.blob, "r", uploadLife)})
}

func (s *Service) delete(j *job, q artifactRequest) answer {
	a := s.find(j, q, true)
	if a == nil {
		return notFound()
	}
	j.run.Kept = slices.DeleteFunc(j.run.Kept, func(o *Artifact) bool { return o == a })
	return fakehttp.OK(object{"ok": true, "artifact_id": strconv.FormatInt(a.ID, 10)})
}

const uploadLife = time.Hour

func twirpError(status int, code, message string) answer {
	return answer{Status: status, Value: object{"code": code, "msg": message}}
}

func invalid(message string) answer {
	return twirpError(http.StatusBadRequest, "invalid_argument", message)
}

func badRoute() answer {
	return twirpError(http.StatusNotFound, "bad_route", "no handler for this path and Content-Type")
}

func decode(r *http.Request, body []byte, q any) (a answer, refused bool) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return badRoute(), true
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return twirpError(http.StatusBadRequest, "malformed", "the json request could not be decoded: "+err.Error()),
			true
	}
	return answer{}, false
}
