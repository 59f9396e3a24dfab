package githubtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// issue is an issue, and what a pull request shares with one: text, labels, events and the conversation.
type issue struct {
	Number int

	repo                *Repo
	title, body, author string
	state               string // open or closed
	page                string // html_url
	isPull              bool
	created, updated    time.Time
	labels              []string
	events              []object // oldest first
	remarks             []remark // oldest first
}

type remark struct {
	id           int64
	author, body string
	at           time.Time
}

// set changes something for a test, under the lock.
func (i *issue) set(change func()) { fakehttp.Do(i.repo.Host, change) }

// Text returns the title and the description.
func (i *issue) Text() (title, body string) { return i.title, i.body }

// Comment adds a comment to the conversation.
func (i *issue) Comment(login, body string) { i.set(func() { i.say(login, body) }) }

func (i *issue) say(login, body string) remark {
	h := i.repo.Host
	k := remark{h.NextID(), h.User(login).Login, body, h.Now()}
	i.remarks = append(i.remarks, k)
	return k
}

// Label sets a label as a user, now.
func (i *issue) Label(login, name string) {
	i.set(func() {
		i.labels = append(i.labels, name)
		i.event(login, "labeled", object{"label": object{"name": name, "color": "ededed"}})
	})
}

func (i *issue) event(login, kind string, more object) {
	h := i.repo.Host
	i.updated = h.Now()
	e := object{"id": h.NextID(), "event": kind, "actor": h.User(login).JSON(), "created_at": h.Now(), "commit_id": nil,
		"commit_url": nil}
	maps.Copy(e, more)
	i.events = append(i.events, e)
}

func (i *issue) json() object {
	v := object{
		"id": i.Number, "number": i.Number, "title": i.title, "body": fakehttp.Null(i.body), "state": i.state,
		"user": i.repo.Host.Author(i.author), "author_association": i.repo.Association(i.author),
		"created_at": fakehttp.Stamp(i.created), "updated_at": fakehttp.Stamp(i.updated),
		"html_url": i.page, "url": i.repo.Address("/issues/%d", i.Number),
	}
	if i.isPull {
		v["pull_request"] = object{"url": i.repo.Address("/pulls/%d", i.Number), "html_url": i.page}
	}
	return v
}

func (i *issue) remarkJSON(k remark) object {
	return object{
		"id": k.id, "body": k.body, "user": i.repo.Host.Author(k.author), "created_at": fakehttp.Stamp(k.at),
		"updated_at": fakehttp.Stamp(k.at), "author_association": i.repo.Association(k.author),
		"html_url": fmt.Sprintf("%s#issuecomment-%d", i.page, k.id),
	}
}

type issues struct {
	repo *Repo
	all  map[int]*issue
}

// open makes an issue, by default under the next number.
func (r *issues) open(number int, author, title, body string) *issue {
	if number == 0 {
		number = 1 + slices.Max(append(slices.Collect(maps.Keys(r.all)), 0))
	}
	h := r.repo.Host
	i := &issue{Number: number, repo: r.repo, title: title, body: body, author: h.User(author).Login, state: "open",
		page: r.repo.Page("/issues/%d", number), created: h.Now(), updated: h.Now()}
	r.all[number] = i
	return i
}

// AddIssue opens an issue under a number, which no pull request may have.
func (r *issues) AddIssue(number int, author, title, body string) {
	defer r.repo.Host.Lock()()
	r.open(number, author, title, body)
}

// Said returns the comments under an issue, oldest first.
func (r *issues) Said(number int) (all []string) {
	defer r.repo.Host.Lock()()
	for _, k := range r.all[number].remarks {
		all = append(all, k.body)
	}
	return all
}

func issueRoutes() []route[issue] {
	const path = repoPath + "/issues/{issue_number}"
	read, write := []string{"issues:read", "pull_requests:read"}, []string{"issues:write", "pull_requests:write"}
	return []route[issue]{
		{"GET", path, read, (*issue).get},
		{"GET", path + "/comments", read, (*issue).listRemarks},
		{"POST", path + "/comments", write, (*issue).createRemark},
		{"GET", path + "/events", read, (*issue).listEvents},
	}
}

func (i *issue) get(*call) answer { return fakehttp.OK(i.json()) }

func (i *issue) listRemarks(c *call) answer {
	return fakehttp.Paged(c.Request, i.remarks, i.remarkJSON)
}

func (i *issue) createRemark(c *call) answer {
	var q struct{ Body string }
	c.Read(&q)
	return fakehttp.Created(i.remarkJSON(i.say(c.Who.User.Login, q.Body)))
}

func (i *issue) listEvents(c *call) answer {
	return fakehttp.Paged(c.Request, i.events, maps.Clone[object])
}

var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):? #([1-9][0-9]*)`)

func (r *issues) closedBy(body string) []object {
	nodes := []object{}
	for _, m := range closing.FindAllStringSubmatch(body, -1) {
		if i := r.all[fakehttp.Number(m[1])]; i != nil && !i.isPull {
			nodes = append(nodes, object{"number": i.Number, "repository": object{"nameWithOwner": r.repo.FullName()}})
		}
	}
	return nodes
}
