package render

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

var plainLogin = pattern.Lazy(`^[A-Za-z0-9-]+(\[bot\])?$`)

const postedBytes = 65_000 // of a whole review; GitHub accepts 65,536

// Posted returns the whole body of the posted review: body, Approval's sentence, marker. The
// approver could see all but the last two. If the marker's lists would make it too long for
// GitHub, they are shortened.
func Posted(body, approval string, m marker.Review) string {
	text := strings.TrimRight(body, "\n") + "\n\n" + approval + "\n"
	return text + m.Within(postedBytes-len(text)).String()
}

// Approval returns a sentence of inert Markdown that says who approved a draft, when, and
// what they changed; rules tells whether rules drafted it. A zero time is not shown.
func Approval(r decision.Record, rules bool) string {
	text := "Drafted by a model"
	if rules {
		text = "Drafted by rules"
	}
	text += ", approved by " + Person(r.By)
	if !r.At.IsZero() {
		text += " on " + r.At.UTC().Format("2 January 2006")
	}
	if c := changes(r); c != "" {
		text += ", who " + c
	}
	return text + "."
}

// Person returns a login as inert Markdown.
func Person(login string) string {
	if !plainLogin().MatchString(login) {
		login = guard.Code(login)
	}
	return strings.ReplaceAll(login, "[", `\[`)
}

func changes(r decision.Record) string {
	dropped := slices.DeleteFunc(slices.Clone(r.Dropped),
		func(d decision.Drop) bool { return d.ID == decision.OverviewID })
	edited := slices.DeleteFunc(slices.Clone(r.Edited),
		func(e decision.Edit) bool { return e.ID == decision.OverviewID })
	var parts []string
	for _, c := range []struct {
		verb string
		n    int
	}{{"dropped", len(dropped)}, {"edited", len(edited)}, {"moved", len(r.Moved)}, {"regraded", len(r.Severity)}} {
		switch {
		case c.n > 0 && len(parts) == 0:
			parts = append(parts, c.verb+" "+wording.Count(c.n, "finding"))
		case c.n > 0:
			parts = append(parts, c.verb+" "+wording.Thousands(int64(c.n)))
		}
	}
	return wording.List(parts)
}
