package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"
)

// Check is a check run of a commit.
type Check struct {
	Name, App      string // App: its name, GitHub Actions by default
	Status         string // completed by default
	Conclusion     string // success, failure, …; none while it is not completed
	Title, Summary string
	ExternalID     string
	Annotations    []Annotation

	id int64
}

// Annotation is a note of a check run on lines of a file.
type Annotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`         // Start by default
	Level   string `json:"annotation_level"` // notice, warning or failure
	Title   string `json:"title"`
	Message string `json:"message"`
}

// AddCheck adds a check run to a commit. One of a name and app that is there
// already hides the earlier one from lists.
func (r *Repo) AddCheck(sha string, k Check) {
	defer r.s.lock()()
	k.id, k.App, k.Status = r.s.nextID(), or(k.App, "GitHub Actions"), or(k.Status, "completed")
	r.checks[sha] = append(slices.DeleteFunc(r.checks[sha], func(o Check) bool {
		return o.Name == k.Name && o.App == k.App
	}), k)
}

// Checks are the check runs of a commit, oldest first.
func (r *Repo) Checks(sha string) []Check {
	defer r.s.lock()()
	return slices.Clone(r.checks[sha])
}

// null is nil for an empty text.
func null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (r *Repo) checkJSON(sha string, k Check) object {
	return object{
		"id": k.id, "name": k.Name, "head_sha": sha, "status": k.Status, "conclusion": null(k.Conclusion),
		"external_id": null(k.ExternalID),
		"html_url":    fmt.Sprintf("%s/%s/runs/%d", r.s.WebURL, r.FullName(), k.id),
		"app":         object{"id": 1, "name": k.App, "owner": r.s.user(r.Owner).json()},
		"output": object{
			"title": null(k.Title), "summary": null(k.Summary), "annotations_count": len(k.Annotations),
		},
	}
}

func listChecks(c *call) answer {
	at := c.repo.resolve(c.PathValue("ref"))
	if at == nil {
		return refusal(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.PathValue("ref"))
	}
	name, all, seen := c.URL.Query().Get("check_name"), c.URL.Query().Get("filter") == "all", map[string]bool{}
	var newest []Check
	for _, k := range slices.Backward(c.repo.checks[at.sha]) {
		if kind := k.App + "\x00" + k.Name; (name == "" || k.Name == name) && (all || !seen[kind]) {
			newest, seen[kind] = append(newest, k), true
		}
	}
	return counted(c, "check_runs", newest, func(k Check) object { return c.repo.checkJSON(at.sha, k) })
}

func listAnnotations(c *call) answer {
	for _, checks := range c.repo.checks {
		for _, k := range checks {
			if fmt.Sprint(k.id) == c.PathValue("check_run_id") {
				return paged(c, k.Annotations, 0, Annotation.json)
			}
		}
	}
	return notFound()
}

func (a Annotation) json() object {
	return object{
		"path": a.Path, "start_line": a.Start, "end_line": or(a.End, a.Start), "annotation_level": null(a.Level),
		"title": null(a.Title), "message": null(a.Message),
	}
}

// checkRun is the body of a request that makes a check run, or adds to it.
type checkRun struct {
	Name       string `json:"name"`
	Head       string `json:"head_sha"`
	ExternalID string `json:"external_id"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	Output     struct {
		Title       string       `json:"title"`
		Summary     string       `json:"summary"`
		Annotations []Annotation `json:"annotations"`
	} `json:"output"`
}

// Limits of an annotation, in bytes and in characters; those of lists and of
// the summary are in the description.
const (
	annotationMessage = 64 << 10
	annotationTitle   = 255
)

// add applies a request to a check run; bad is why it cannot.
func (k *Check) add(c *call) (q checkRun, bad string) {
	c.read(&q)
	k.Name, k.ExternalID, k.Title, k.Summary = or(q.Name, k.Name), or(q.ExternalID, k.ExternalID),
		or(q.Output.Title, k.Title), or(q.Output.Summary, k.Summary)
	k.Status, k.Conclusion = or(q.Status, k.Status), or(q.Conclusion, k.Conclusion)
	for _, a := range q.Output.Annotations {
		if a.Start < 1 || a.End < a.Start || len(a.Message) > annotationMessage ||
			utf8.RuneCountInString(a.Title) > annotationTitle || a.Message == "" {
			return q, "Invalid annotation"
		}
		k.Annotations = append(slices.Clone(k.Annotations), a)
	}
	return q, ""
}

// createCheck makes a check run, which GitHub lets apps alone do. A conclusion
// completes it.
func createCheck(c *call) answer {
	if c.who.kind != "app" {
		return refusal(http.StatusForbidden, "You must authenticate via a GitHub App.")
	}
	k := Check{App: "GitHub Actions", id: c.s.nextID()}
	q, bad := k.add(c)
	at := c.repo.objects.commits[q.Head]
	if at == nil {
		bad = or(bad, "No commit found for SHA: "+q.Head)
	}
	if bad != "" {
		return refusal(http.StatusUnprocessableEntity, bad)
	}
	if k.Status = or(k.Status, "queued"); k.Conclusion != "" {
		k.Status = "completed"
	}
	c.repo.checks[at.sha] = append(c.repo.checks[at.sha], k)
	return answer{status: http.StatusCreated, value: c.repo.checkJSON(at.sha, k)}
}

// updateCheck adds annotations behind those that a check run has.
func updateCheck(c *call) answer {
	for sha, checks := range c.repo.checks {
		for i, k := range checks {
			if fmt.Sprint(k.id) != c.PathValue("check_run_id") {
				continue
			}
			if _, bad := k.add(c); bad != "" {
				return refusal(http.StatusUnprocessableEntity, bad)
			}
			checks[i] = k
			return ok(c.repo.checkJSON(sha, k))
		}
	}
	return notFound()
}

// Status is a status of a commit, which is what there was before check runs.
type Status struct{ Context, State, Description, URL string }

// maxDescription is how many characters GitHub takes of a status's description.
const maxDescription = 140

// AddStatus adds a status to a commit.
func (r *Repo) AddStatus(sha string, st Status) {
	defer r.s.lock()()
	r.statuses[sha] = append(r.statuses[sha], st)
}

// Statuses are all statuses of a commit, oldest first.
func (r *Repo) Statuses(sha string) []Status {
	defer r.s.lock()()
	return slices.Clone(r.statuses[sha])
}

func (st Status) json() object {
	return object{"context": st.Context, "state": st.State, "description": null(st.Description),
		"target_url": null(st.URL)}
}

// listStatuses answers the latest status of each context.
func listStatuses(c *call) answer {
	at := c.repo.resolve(c.PathValue("ref"))
	if at == nil {
		return notFound()
	}
	var latest []Status
	for _, st := range slices.Backward(c.repo.statuses[at.sha]) {
		if !slices.ContainsFunc(latest, func(o Status) bool { return o.Context == st.Context }) {
			latest = append(latest, st)
		}
	}
	shown, h := page(c, latest, 0)
	return ok(object{
		"state": "pending", "sha": at.sha, "total_count": len(latest),
		"statuses": list(shown, Status.json),
	}).with(h)
}

func createStatus(c *call) answer {
	var q struct {
		State       string `json:"state"`
		Context     string `json:"context"`
		Description string `json:"description"`
		URL         string `json:"target_url"`
	}
	c.read(&q)
	at := c.repo.objects.commits[c.PathValue("sha")]
	if at == nil {
		return refusal(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.PathValue("sha"))
	}
	if utf8.RuneCountInString(q.Description) > maxDescription {
		return refusal(http.StatusUnprocessableEntity, "Validation Failed",
			"description is too long (maximum is 140 characters)")
	}
	st := Status{or(q.Context, "default"), q.State, q.Description, q.URL}
	c.repo.statuses[at.sha] = append(c.repo.statuses[at.sha], st)
	v := st.json()
	v["created_at"], v["updated_at"] = stamp(c.s.now()), stamp(c.s.now())
	return answer{status: http.StatusCreated, value: v}
}
