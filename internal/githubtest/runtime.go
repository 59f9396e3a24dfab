package githubtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const twirpPrefix = "/twirp/github.actions.results.api.v1.ArtifactService/"

// uploadLife is how long a signed upload or download URL of the runtime
// protocol holds.
const uploadLife = time.Hour

// RuntimeToken is ACTIONS_RUNTIME_TOKEN of a job in the run's current attempt.
// It sees the artifacts of that attempt (of all with Options.SharedAttempts).
func (s *Server) RuntimeToken(run *Run, job string) string {
	defer s.lock()()
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(encode(v)) }
	scope := fmt.Sprintf("Actions.ExampleScope Actions.Results:%s:%s", s.backendID("run", run, run.attempt, ""),
		s.backendID("job", run, run.attempt, job))
	unsigned := part(object{"alg": "HS256", "typ": "JWT"}) + "." +
		part(object{"scp": scope, "iss": s.URL, "exp": s.now().Add(6 * time.Hour).Unix()})
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(unsigned))
	token := unsigned + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	s.tokens[token] = &identity{kind: "runtime", run: run, attempt: run.attempt, job: job}
	return token
}

// backendID is an opaque name in the form of a UUID.
func (s *Server) backendID(kind string, run *Run, attempt int, job string) string {
	if s.options.SharedAttempts && kind == "run" {
		attempt = 0
	}
	d := s.digest(kind, run.repo.FullName(), strconv.FormatInt(run.ID, 10), strconv.Itoa(attempt), job)
	return fmt.Sprintf("%s-%s-%s-%s-%s", d[:8], d[8:12], d[12:16], d[16:20], d[20:32])
}

// runtimeRequest holds the fields of all five calls.
type runtimeRequest struct {
	Run       string      `json:"workflow_run_backend_id"`
	Job       string      `json:"workflow_job_run_backend_id"`
	Name      string      `json:"name"`
	ExpiresAt string      `json:"expires_at"`
	Version   int         `json:"version"`
	MimeType  string      `json:"mime_type"`
	Size      json.Number `json:"size"`
	Hash      string      `json:"hash"`
	Filter    *string     `json:"name_filter"`
	ID        json.Number `json:"id_filter"`
}

// twirpError is the protocol's error document.
func twirpError(status int, code, message string) answer {
	return answer{status: status, value: object{"code": code, "msg": message}}
}

func invalid(message string) answer {
	return twirpError(http.StatusBadRequest, "invalid_argument", message)
}

// twirp reads a request to one of the runner's services, or refuses it.
func (c *call) twirp(q any, known bool) (a answer, refused bool) {
	if c.who.kind != "runtime" {
		return twirpError(http.StatusUnauthorized, "unauthenticated", "a runtime token is required"), true
	}
	if !known || !strings.HasPrefix(c.Header.Get("Content-Type"), "application/json") {
		return twirpError(http.StatusNotFound, "bad_route", "no handler for path "+c.URL.Path+" and this Content-Type"),
			true
	}
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return twirpError(http.StatusBadRequest, "malformed", "the json request could not be decoded: "+err.Error()),
			true
	}
	return answer{}, false
}

func (s *Server) serveRuntime(w http.ResponseWriter, r *http.Request) {
	handle := map[string]func(*call, runtimeRequest) answer{
		"CreateArtifact": createArtifact, "FinalizeArtifact": finalizeArtifact, "ListArtifacts": listRuntime,
		"GetSignedArtifactURL": signArtifact, "DeleteArtifact": deleteRuntime,
	}[r.PathValue("method")]
	s.exchange(w, r, "api", func(c *call) answer {
		var q runtimeRequest
		if a, refused := c.twirp(&q, handle != nil); refused {
			return a
		}
		if q.Run != s.backendID("run", c.who.run, c.who.attempt, "") {
			return twirpError(http.StatusForbidden, "permission_denied", "the token is not of this workflow run")
		}
		return handle(c, q)
	})
}

// inRun are the artifacts that the runtime token sees.
func (c *call) inRun() []*Artifact {
	return slices.DeleteFunc(slices.Clone(c.s.artifacts), func(a *Artifact) bool {
		return a.run != c.who.run || a.attempt != c.who.attempt && !c.s.options.SharedAttempts
	})
}

func (a *Artifact) jobID() string {
	return a.run.repo.s.backendID("job", a.run, a.attempt, a.job)
}

// find is the newest artifact of a name and job that is ready or is not.
func (c *call) find(q runtimeRequest, ready bool) *Artifact {
	for _, a := range slices.Backward(c.inRun()) {
		if a.Name == q.Name && a.jobID() == q.Job && a.ready == ready {
			return a
		}
	}
	return nil
}

func createArtifact(c *call, q runtimeRequest) answer {
	switch {
	case q.Name == "" || strings.ContainsAny(q.Name, "\":<>|*?\r\n\\/"):
		return invalid("the artifact name is not valid")
	case q.Version < 4:
		return invalid("version is not supported")
	case q.Version >= 7 && q.MimeType == "":
		return invalid("mime_type a valid mime_type is required for this artifact version")
	case q.Job != c.s.backendID("job", c.who.run, c.who.attempt, c.who.job):
		return twirpError(http.StatusForbidden, "permission_denied", "the token is not of this job")
	case slices.ContainsFunc(c.inRun(), func(a *Artifact) bool { return a.Name == q.Name }):
		return twirpError(http.StatusConflict, "already_exists",
			"an artifact with this name already exists on the workflow run")
	}
	until, err := time.Parse(time.RFC3339, q.ExpiresAt)
	if q.ExpiresAt != "" && (err != nil || !until.After(c.s.now())) {
		return invalid("expires_at is not a time to come")
	}
	a := c.s.newArtifact(c.who.run, c.who.attempt, c.who.job, q.Name)
	if q.ExpiresAt != "" {
		a.ExpiresAt = until.UTC()
	}
	return ok(object{"ok": true, "signed_upload_url": c.s.sign(a.blob, "w", uploadLife)})
}

func finalizeArtifact(c *call, q runtimeRequest) answer {
	a := c.find(q, false)
	if a == nil {
		return twirpError(http.StatusNotFound, "not_found", "artifact not found")
	}
	if !c.s.storage[a.blob].committed {
		return invalid("the upload is not complete")
	}
	b := *a
	b.finish()
	if q.Size.String() != strconv.FormatInt(b.Size, 10) {
		return invalid("size does not match the upload")
	}
	if q.Hash != "" && q.Hash != b.Digest {
		return invalid("hash does not match the upload")
	}
	a.finish()
	return ok(object{"ok": true, "artifact_id": strconv.FormatInt(a.ID, 10)})
}

func listRuntime(c *call, q runtimeRequest) answer {
	v := object{} // an empty list is left out
	var found []object
	for _, a := range c.inRun() {
		id := strconv.FormatInt(a.ID, 10)
		if !a.ready || q.Filter != nil && *q.Filter != a.Name || q.ID != "" && q.ID.String() != id {
			continue
		}
		found = append(found, object{
			"workflow_run_backend_id": q.Run, "workflow_job_run_backend_id": a.jobID(), "database_id": id,
			"name": a.Name,
			"size": strconv.FormatInt(a.Size, 10), "created_at": stamp(a.CreatedAt), "digest": a.Digest,
		})
	}
	if found != nil {
		v["artifacts"] = found
	}
	return ok(v)
}

func signArtifact(c *call, q runtimeRequest) answer {
	a := c.find(q, true)
	if a == nil || a.gone() {
		return twirpError(http.StatusNotFound, "not_found", "artifact not found")
	}
	return ok(object{"signed_url": c.s.sign(a.blob, "r", uploadLife)})
}

func deleteRuntime(c *call, q runtimeRequest) answer {
	a := c.find(q, true)
	if a == nil {
		return twirpError(http.StatusNotFound, "not_found", "artifact not found")
	}
	c.s.artifacts = slices.DeleteFunc(c.s.artifacts, func(o *Artifact) bool { return o == a })
	return ok(object{"ok": true, "artifact_id": strconv.FormatInt(a.ID, 10)})
}
