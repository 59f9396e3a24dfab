package githubtest

import (
	"fmt"
	"net/http"
	"slices"
)

// Check is a check run of a commit.
type Check struct {
	Name, App      string // App: its name, GitHub Actions by default
	Status         string // completed by default
	Conclusion     string // success, failure, …; none while it is not completed
	Title, Summary string
	Annotations    []Annotation

	id int64
}

// Annotation is a note of a check run on lines of a file.
type Annotation struct {
	Path           string
	Start, End     int    // lines; End is Start by default
	Level          string // notice, warning or failure
	Title, Message string
}

// Status is a status of a commit, which is what there was before check runs.
type Status struct{ Context, State, Description string }

// AddCheck adds a check run to a commit. One of a name and app that is there
// already hides the earlier one from lists.
func (r *Repo) AddCheck(sha string, k Check) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	k.id, k.App, k.Status = r.s.nextID(), or(k.App, "GitHub Actions"), or(k.Status, "completed")
	r.checks[sha] = append(slices.DeleteFunc(r.checks[sha], func(o Check) bool { return o.Name == k.Name && o.App == k.App }), k)
}

// AddStatus adds a status to a commit.
func (r *Repo) AddStatus(sha string, st Status) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.statuses[sha] = append(r.statuses[sha], st)
}

// null is nil for an empty text.
func null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (r *Repo) checkJSON(sha string, k Check) object {
	url := fmt.Sprintf("%s/repos/%s/check-runs/%d", r.s.URL, r.FullName(), k.id)
	return object{
		"id": k.id, "name": k.Name, "head_sha": sha, "status": k.Status, "conclusion": null(k.Conclusion), "url": url,
		"html_url": fmt.Sprintf("%s/%s/runs/%d", r.s.WebURL, r.FullName(), k.id),
		"app":      object{"id": 1, "name": k.App, "owner": r.s.user(r.Owner).json()},
		"output": object{
			"title": null(k.Title), "summary": null(k.Summary), "text": nil,
			"annotations_count": len(k.Annotations), "annotations_url": url + "/annotations",
		},
	}
}

func listChecks(c *call) answer {
	at := c.repo.resolve(c.PathValue("ref"))
	if at == nil {
		return refusal(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.PathValue("ref"))
	}
	newest := slices.Clone(c.repo.checks[at.sha])
	slices.Reverse(newest)
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

func listStatuses(c *call) answer {
	at := c.repo.resolve(c.PathValue("ref"))
	if at == nil {
		return notFound()
	}
	all := c.repo.statuses[at.sha]
	shown, h := page(c, all, 0)
	return ok(object{
		"state": "pending", "sha": at.sha, "total_count": len(all),
		"statuses": list(shown, func(st Status) object {
			return object{"context": st.Context, "state": st.State, "description": null(st.Description)}
		}),
	}).with(h)
}
