package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Check is a check run of a commit.
type Check struct {
	Name, App      string // App is its name, GitHub Actions by default
	Status         string // completed by default
	Conclusion     string // success, failure, …; empty until completed
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

// Status is a status of a commit, GitHub's older form of checks.
type Status struct {
	Context     string `json:"context"`
	State       string `json:"state"`
	Description string `json:"description"`
	URL         string `json:"target_url"`
}

type checks struct {
	repo     *Repo
	runs     map[string][]Check
	statuses map[string][]Status
}

// AddCheck adds a check run to a commit. It hides earlier ones of the same name and app from lists.
func (r *checks) AddCheck(sha string, k Check) {
	defer r.repo.Host.Lock()()
	k.Status = cmp.Or(k.Status, "completed")
	r.add(sha, k)
}

func (r *checks) add(sha string, k Check) Check {
	k.id, k.App = r.repo.Host.NextID(), cmp.Or(k.App, "GitHub Actions")
	r.runs[sha] = append(r.runs[sha], k)
	return k
}

// Checks returns the check runs of a commit, oldest first.
func (r *checks) Checks(sha string) []Check {
	return fakehttp.Get(r.repo.Host, func() []Check { return slices.Clone(r.runs[sha]) })
}

// AddStatus adds a status to a commit.
func (r *checks) AddStatus(sha string, st Status) {
	defer r.repo.Host.Lock()()
	r.statuses[sha] = append(r.statuses[sha], st)
}

// Statuses returns all statuses of a commit, oldest first.
func (r *checks) Statuses(sha string) []Status {
	return fakehttp.Get(r.repo.Host, func() []Status { return slices.Clone(r.statuses[sha]) })
}

func checkRoutes() []route[checks] {
	const commit, runs = repoPath + "/commits/{ref}", repoPath + "/check-runs"
	read := []string{"checks:read"}
	return []route[checks]{
		{"GET", commit + "/check-runs", read, (*checks).list},
		{"GET", commit + "/status", []string{"statuses:read"}, (*checks).listStatuses},
		{"GET", runs + "/{check_run_id}/annotations", read, (*checks).listAnnotations},
		{"POST", runs, []string{"checks:write"}, (*checks).create},
		{"POST", repoPath + "/statuses/{sha}", []string{"statuses:write"}, (*checks).createStatus},
	}
}

func noCommit(sha string) answer { return fakehttp.Unprocessable("No commit found for SHA: " + sha) }

func (r *checks) json(sha string, k Check) object {
	null := fakehttp.Null
	return object{
		"id": k.id, "name": k.Name, "head_sha": sha, "status": k.Status, "conclusion": null(k.Conclusion),
		"external_id": null(k.ExternalID), "html_url": r.repo.Page("/runs/%d", k.id),
		"app": object{"id": 1, "name": k.App, "owner": r.repo.Host.User(r.repo.Owner).JSON()},
		"output": object{
			"title": null(k.Title), "summary": null(k.Summary), "annotations_count": len(k.Annotations),
		},
	}
}

func (r *checks) list(c *call) answer {
	at := r.repo.Resolve(c.PathValue("ref"))
	if at == nil {
		return noCommit(c.PathValue("ref"))
	}
	name, all, seen := c.URL.Query().Get("check_name"), c.URL.Query().Get("filter") == "all", map[string]bool{}
	var newest []Check
	for _, k := range slices.Backward(r.runs[at.SHA]) {
		if kind := k.App + "\x00" + k.Name; (name == "" || k.Name == name) && (all || !seen[kind]) {
			newest, seen[kind] = append(newest, k), true
		}
	}
	return fakehttp.Counted(c.Request, "check_runs", newest, func(k Check) object { return r.json(at.SHA, k) })
}

func (r *checks) listAnnotations(c *call) answer {
	for _, runs := range r.runs {
		for _, k := range runs {
			if fmt.Sprint(k.id) == c.PathValue("check_run_id") {
				return fakehttp.Paged(c.Request, k.Annotations, Annotation.json)
			}
		}
	}
	return fakehttp.NotFound()
}

func (a Annotation) json() object {
	return object{
		"path": a.Path, "start_line": a.Start, "end_line": cmp.Or(a.End, a.Start),
		"annotation_level": fakehttp.Null(a.Level), "title": fakehttp.Null(a.Title),
		"message": fakehttp.Null(a.Message),
	}
}

// Limits in bytes of a message and in characters of the others; the description has those of lists and summary.
const (
	maxMessage     = 64 << 10
	maxTitle       = 255
	maxDescription = 140
)

// create makes a check run, which GitHub only allows apps. A conclusion completes it.
func (r *checks) create(c *call) answer {
	var q struct {
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
	c.Read(&q)
	switch {
	case c.Who.Kind != "app":
		return c.Forbidden()
	case r.repo.Objects.Commits[q.Head] == nil:
		return noCommit(q.Head)
	case slices.ContainsFunc(q.Output.Annotations, func(a Annotation) bool {
		return a.Start < 1 || a.End < a.Start || len(a.Message) > maxMessage || a.Message == "" ||
			utf8.RuneCountInString(a.Title) > maxTitle
	}):
		return fakehttp.Unprocessable("Invalid annotation")
	}
	k := Check{Name: q.Name, Status: cmp.Or(q.Status, "queued"), Conclusion: q.Conclusion, ExternalID: q.ExternalID,
		Title: q.Output.Title, Summary: q.Output.Summary, Annotations: q.Output.Annotations}
	if k.Conclusion != "" {
		k.Status = "completed"
	}
	return fakehttp.Created(r.json(q.Head, r.add(q.Head, k)))
}

func (st Status) json() object {
	return object{"context": st.Context, "state": st.State, "description": fakehttp.Null(st.Description),
		"target_url": fakehttp.Null(st.URL)}
}

func (r *checks) listStatuses(c *call) answer {
	at := r.repo.Resolve(c.PathValue("ref"))
	if at == nil {
		return noCommit(c.PathValue("ref"))
	}
	var latest []Status
	for _, st := range slices.Backward(r.statuses[at.SHA]) {
		if !slices.ContainsFunc(latest, func(o Status) bool { return o.Context == st.Context }) {
			latest = append(latest, st)
		}
	}
	a := fakehttp.Counted(c.Request, "statuses", latest, Status.json)
	v := a.Value.(object)
	v["state"], v["sha"] = "pending", at.SHA
	return a
}

func (r *checks) createStatus(c *call) answer {
	st, sha := Status{Context: "default"}, c.PathValue("sha")
	c.Read(&st)
	switch {
	case r.repo.Objects.Commits[sha] == nil:
		return noCommit(sha)
	case utf8.RuneCountInString(st.Description) > maxDescription:
		return fakehttp.Unprocessable("Validation Failed", "description is too long (maximum is 140 characters)")
	}
	r.statuses[sha] = append(r.statuses[sha], st)
	v := st.json()
	v["created_at"], v["updated_at"] = fakehttp.Stamp(c.Host.Now()), fakehttp.Stamp(c.Host.Now())
	return fakehttp.Created(v)
}
