package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/memgit"
)

// serveGraphQL answers the GraphQL requests that this server knows: the token's account, the threads on a pull
// request's diff, resolving one, the issues that a pull request closes, and a commit.
func (w *site) serveGraphQL(r *http.Request, body []byte) answer {
	c := w.call(r, body)
	if c.Who.User == nil {
		return fakehttp.Refusal(http.StatusUnauthorized, "Bad credentials")
	}
	var q struct {
		Query     string `json:"query"`
		Variables struct {
			Owner, Name, After, ID string
			Number                 int
		} `json:"variables"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return fakehttp.Refusal(http.StatusBadRequest, "Problems parsing JSON")
	}
	asks := func(kind, what string) bool {
		return strings.HasPrefix(q.Query, kind+"(") && strings.Contains(q.Query, what)
	}
	switch v := q.Variables; {
	case q.Query == "query { viewer { login } }": // installations have one too, as gh auth status shows in a job
		return data("viewer", object{"login": c.Who.User.Login})
	case asks("query", "reviewThreads(first: 100"):
		return w.ofPull(c, v.Owner, v.Name, v.Number, func(_ *Repo, p *Pull) object {
			return object{"reviewThreads": threadsPage(c, threads(p.all), fakehttp.Number(v.After))}
		})
	case asks("query", "closingIssuesReferences(first: 10)"):
		return w.ofPull(c, v.Owner, v.Name, v.Number, func(r *Repo, p *Pull) object {
			nodes := []object{}
			if p.base == defaultBranch {
				nodes = r.closedBy(p.body)
			}
			return object{"closingIssuesReferences": object{"nodes": nodes}}
		})
	case asks("mutation", "resolveReviewThread("):
		return w.resolveThread(c, v.ID)
	case asks("mutation", "createCommitOnBranch("):
		return w.commitOnBranch(c)
	}
	w.Violation("GraphQL: %.200q is not known here", q.Query)
	return graphQLError("undefinedField", "Field doesn't exist")
}

func data(name string, v any) answer { return fakehttp.OK(object{"data": object{name: v}}) }

func graphQLError(kind, message string) answer {
	return fakehttp.OK(object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
}

func forbidden() answer { return graphQLError("FORBIDDEN", "Resource not accessible by integration") }

func (w *site) ofPull(c *call, owner, name string, n int, read func(*Repo, *Pull) object) answer {
	r := w.Visible(c, owner, name)
	switch {
	case r == nil || r.of[n] == nil:
		return graphQLError("NOT_FOUND", "Could not resolve to a PullRequest")
	case !c.Who.May(r, "pull_requests:read"):
		return forbidden()
	}
	return data("repository", object{"pullRequest": read(r, r.of[n])})
}

// resolveThread marks a thread as resolved. An app's token also needs the right to write contents, as others have
// found out; GitHub does not document it.
func (w *site) resolveThread(c *call, id string) answer {
	for _, r := range w.repos {
		for _, p := range r.of {
			for _, t := range threads(p.all) {
				if t.id() != id || !c.Who.Sees(r) {
					continue
				}
				if !c.Who.May(r, "pull_requests:write") || !c.Who.May(r, "contents:write") {
					return forbidden()
				}
				t.first.Resolved, t.first.ResolvedBy = true, c.Who.User.Login
				return data("resolveReviewThread", object{"thread": object{"id": id, "isResolved": true}})
			}
		}
	}
	return graphQLError("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
}

// commitInput is CreateCommitOnBranchInput of GitHub's schema.
type commitInput struct {
	Branch struct {
		Repository string `json:"repositoryNameWithOwner"`
		Name       string `json:"branchName"`
	} `json:"branch"`
	Message struct {
		Headline string `json:"headline"`
		Body     string `json:"body"`
	} `json:"message"`
	Expected string `json:"expectedHeadOid"`
	Changes  struct {
		Additions []struct {
			Path     string `json:"path"`
			Contents []byte `json:"contents"` // base64
		} `json:"additions"`
	} `json:"fileChanges"`
}

func (w *site) commitOnBranch(c *call) answer {
	var q struct {
		Variables struct {
			Input commitInput `json:"input"`
		} `json:"variables"`
		Query string `json:"query"`
	}
	d := json.NewDecoder(bytes.NewReader(c.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		w.Violation("createCommitOnBranch: %v", err)
		return graphQLError("INVALID", "Variable $input of type CreateCommitOnBranchInput! was provided invalid value")
	}
	in := q.Variables.Input
	owner, name, _ := strings.Cut(in.Branch.Repository, "/")
	r := w.Visible(c, owner, name)
	if r == nil {
		return graphQLError("NOT_FOUND", "Could not resolve to a Repository")
	}
	tip := r.branches[in.Branch.Name]
	switch {
	case !c.Who.May(r, "contents:write"):
		return forbidden()
	case tip == nil:
		return graphQLError("NOT_FOUND", "The branch "+in.Branch.Name+" could not be found")
	case tip.SHA != in.Expected:
		return graphQLError("STALE_DATA", fmt.Sprintf("Expected branch to point to %q but it did not. Pull and try "+
			"again.", in.Expected))
	}
	made := memgit.Commit{Message: strings.TrimSpace(in.Message.Headline + "\n\n" + in.Message.Body),
		Author: c.Who.User.Login, Tree: tip.Tree.With(nil), Modes: maps.Clone(tip.Modes),
		Parents: []*memgit.Commit{tip}}
	if kind, message := in.apply(c, made); kind != "" {
		return graphQLError(kind, message)
	}
	k := r.Put(in.Branch.Name, made)
	r.followPush(in.Branch.Name, k)
	return data("createCommitOnBranch", object{"commit": object{"oid": k.SHA, "url": r.Page("/commit/%s", k.SHA)}})
}

// apply changes the files of a commit, all ordinary ones since GitHub takes no mode, or returns an error's kind.
func (in *commitInput) apply(c *call, to memgit.Commit) (kind, message string) {
	for _, f := range in.Changes.Additions {
		if c.Who.Kind == "app" && strings.HasPrefix(f.Path, ".github/workflows/") {
			return "FORBIDDEN", "refusing to allow a GitHub App to create or update workflow `" + f.Path +
				"` without `workflows` permission"
		}
		to.Tree[f.Path] = string(f.Contents)
		delete(to.Modes, f.Path)
	}
	return "", ""
}

// thread is a comment on the diff with its answers.
type thread struct {
	review  *Review
	first   *Comment
	answers int
}

func (t thread) id() string { return "PRRT_" + strconv.FormatInt(t.first.ID, 10) }

func threads(reviews []*Review) []*thread {
	var all []*thread
	opened := map[int64]*thread{}
	for _, r := range reviews {
		for i := range r.Comments {
			k := &r.Comments[i]
			switch t := opened[k.ReplyTo]; {
			case r.State == "PENDING":
			case t != nil:
				t.answers++
			default:
				t = &thread{review: r, first: k}
				opened[k.ID] = t
				all = append(all, t)
			}
		}
	}
	return all
}

func threadsPage(c *call, all []*thread, after int) object {
	end := min(after+100, len(all))
	nodes := []object{}
	for _, t := range all[min(after, end):end] {
		first := object{"fullDatabaseId": strconv.FormatInt(t.first.ID, 10), "viewerDidAuthor": c.Who.Is(t.review.User)}
		nodes = append(nodes, object{"id": t.id(), "isResolved": t.first.Resolved, "resolvedBy": t.first.resolver(),
			"comments": object{"totalCount": 1 + t.answers, "nodes": []object{first}}})
	}
	return object{"pageInfo": object{"hasNextPage": end < len(all), "endCursor": strconv.Itoa(end)}, "nodes": nodes}
}

// resolver returns the user who resolved the thread; GitHub names none for an app.
func (k *Comment) resolver() object {
	if k.ResolvedBy == "" || strings.HasSuffix(k.ResolvedBy, "[bot]") {
		return nil
	}
	return object{"login": k.ResolvedBy}
}
