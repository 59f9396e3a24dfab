package githubtest

import (
	"net/http"
	"slices"
	"unicode/utf8"
)

// Status is a status of a commit, which is what there was before check runs.
type Status struct{ Context, State, Description, URL string }

// maxDescription is how many characters GitHub takes of a status's description.
const maxDescription = 140

// AddStatus adds a status to a commit.
func (r *Repo) AddStatus(sha string, st Status) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.statuses[sha] = append(r.statuses[sha], st)
}

// Statuses are all statuses of a commit, oldest first.
func (r *Repo) Statuses(sha string) []Status {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
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
