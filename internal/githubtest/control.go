package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// control is the body of a request under /_fake/, which scripts use in place
// of the methods. Each endpoint reads the members that it needs.
type control struct {
	Repo        string            `json:"repo"` // owner/name
	Pull        int               `json:"pull"`
	Run         int64             `json:"run"`
	Job         string            `json:"job"`
	Files       Tree              `json:"files"`
	Environment string            `json:"environment"`
	Reviewers   []string          `json:"reviewers"`
	User        string            `json:"user"`
	Role        string            `json:"role"`
	Comment     string            `json:"comment"`
	State       string            `json:"state"`
	Label       string            `json:"label"`
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Status      int               `json:"status"`
	Times       int               `json:"times"`
	Drop        bool              `json:"drop"`
	AfterWrite  bool              `json:"after_write"`
	Permissions map[string]string `json:"permissions"`
	Advance     string            `json:"advance"` // a Go duration
	Event       string            `json:"event"`
	HeadBranch  string            `json:"head_branch"`
	HeadRepo    string            `json:"head_repo"`
	Workflow    string            `json:"workflow"`
	All         bool              `json:"all"`
	Conclusion  string            `json:"conclusion"`
	At          int               `json:"at"` // requests from now on, from 1
	Phase       string            `json:"phase"`
}

// target is what a control names, or an error that says what is missing.
func (s *Server) target(c control, needPull, needRun bool) (*Repo, *Pull, *Run, error) {
	r := s.Repo(c.Repo)
	if r == nil {
		return nil, nil, nil, fmt.Errorf("there is no repository %q", c.Repo)
	}
	p, run := r.Pull(c.Pull), r.Run(c.Run)
	if needPull && p == nil {
		return nil, nil, nil, fmt.Errorf("%s has no pull request %d", c.Repo, c.Pull)
	}
	if needRun && run == nil {
		return nil, nil, nil, fmt.Errorf("%s has no run %d", c.Repo, c.Run)
	}
	return r, p, run, nil
}

func (s *Server) controls(mux *http.ServeMux) {
	handle := func(pattern string, needPull, needRun bool, do func(control, *Repo, *Pull, *Run) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var c control
			d := json.NewDecoder(r.Body)
			d.DisallowUnknownFields()
			err := d.Decode(&c)
			var v any
			if err == nil {
				var repo *Repo
				var p *Pull
				var run *Run
				if repo, p, run, err = s.target(c, needPull, needRun); err == nil {
					v, err = do(c, repo, p, run)
				}
			}
			reply(w, v, err)
		})
	}
	handle("POST /_fake/head", true, false, func(c control, _ *Repo, p *Pull, _ *Run) (any, error) {
		return object{"head_sha": p.Push(p.Tree().With(c.Files))}, nil
	})
	handle("POST /_fake/close", true, false, func(_ control, _ *Repo, p *Pull, _ *Run) (any, error) {
		p.Close()
		return object{}, nil
	})
	handle("POST /_fake/labels", true, false, func(c control, _ *Repo, p *Pull, _ *Run) (any, error) {
		p.Label(c.User, c.Label)
		return object{}, nil
	})
	handle("POST /_fake/permissions", false, false, func(c control, r *Repo, _ *Pull, _ *Run) (any, error) {
		r.Permit(c.User, c.Role)
		return object{}, nil
	})
	handle("POST /_fake/environments", false, false, func(c control, r *Repo, _ *Pull, _ *Run) (any, error) {
		r.AddEnvironment(c.Environment, c.Reviewers...)
		return object{}, nil
	})
	handle("POST /_fake/runs", false, false, func(c control, r *Repo, _ *Pull, _ *Run) (any, error) {
		o := RunOptions{ID: c.Run, Event: c.Event, Path: c.Workflow, HeadBranch: c.HeadBranch, Actor: c.User,
			HeadRepo: s.Repo(c.HeadRepo)}
		return object{"run": r.AddRun(o).ID}, nil
	})
	handle("POST /_fake/reruns", false, true, func(c control, _ *Repo, _ *Pull, run *Run) (any, error) {
		rerun := run.Rerun
		if c.All {
			rerun = run.RerunAll
		}
		attempt := rerun()
		run.Trigger(c.User)
		return object{"attempt": attempt}, nil
	})
	handle("POST /_fake/conclusions", false, true, func(c control, _ *Repo, _ *Pull, run *Run) (any, error) {
		run.Finish(c.Conclusion)
		return object{}, nil
	})
	handle("POST /_fake/artifacts", false, true, func(_ control, _ *Repo, _ *Pull, run *Run) (any, error) {
		return run.Artifacts(), nil
	})
	handle("POST /_fake/cache", false, false, func(_ control, r *Repo, _ *Pull, _ *Run) (any, error) {
		return r.CacheKeys(), nil
	})
	handle("POST /_fake/cache-mode", false, true, func(_ control, _ *Repo, _ *Pull, run *Run) (any, error) {
		run.WriteCache()
		return object{}, nil
	})
	handle("POST /_fake/holds", false, false, func(c control, _ *Repo, _ *Pull, _ *Run) (any, error) {
		s.hold(len(s.Requests())+c.At, or(c.Phase, "before"))
		return object{}, nil
	})
	handle("POST /_fake/approvals", false, true, func(c control, _ *Repo, _ *Pull, run *Run) (any, error) {
		run.Decide(c.Environment, or(c.State, "approved"), c.User, c.Comment)
		return object{}, nil
	})
	handle("POST /_fake/runtime-tokens", false, true, func(c control, _ *Repo, _ *Pull, run *Run) (any, error) {
		return object{"token": s.RuntimeToken(run, or(c.Job, "draft")), "results_url": s.ResultsURL}, nil
	})
	handle("POST /_fake/app-tokens", false, false, func(c control, r *Repo, _ *Pull, _ *Run) (any, error) {
		return object{"token": s.AppToken(r, c.Permissions)}, nil
	})
	handle("POST /_fake/faults", false, false, func(c control, _ *Repo, _ *Pull, _ *Run) (any, error) {
		s.Fail(c.Method, c.Path, Fault{Status: c.Status, Times: c.Times, DropConnection: c.Drop,
			AfterWrite: c.AfterWrite})
		return object{}, nil
	})
	handle("POST /_fake/clock", false, false, func(c control, _ *Repo, _ *Pull, _ *Run) (any, error) {
		d, err := time.ParseDuration(c.Advance)
		s.Advance(d)
		return object{}, err
	})
	handle("POST /_fake/reviews", true, false, func(_ control, _ *Repo, p *Pull, _ *Run) (any, error) {
		return p.Reviews(), nil
	})
	mux.HandleFunc("GET /_fake/requests", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Requests(), nil) })
	mux.HandleFunc("GET /_fake/held", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		held := s.held
		s.mu.Unlock()
		reply(w, object{"held": held}, nil)
	})
	mux.HandleFunc("GET /_fake/violations", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, append([]string{}, s.Violations()...), nil)
	})
}

// hold keeps the request of a number waiting in a phase until its client goes
// away, which is when a script has ended it.
func (s *Server) hold(n int, phase string) {
	s.mu.Lock()
	s.held = false
	s.mu.Unlock()
	s.OnRequest(func(m int, r *http.Request, at string) {
		if m == n && at == phase {
			s.mu.Lock()
			s.held = true
			s.mu.Unlock()
			<-r.Context().Done()
		}
	})
}

func reply(w http.ResponseWriter, v any, err error) {
	a := ok(v)
	if err != nil {
		a = answer{status: http.StatusBadRequest, value: object{"message": err.Error()}}
	}
	a.write(w)
}
