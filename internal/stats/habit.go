package stats

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// The thresholds of a habit. MinShare is for the lower bound of the 95 % interval of the share
// of judged findings that were dropped. MaxChance limits the probability that any of the
// habits examined would have as many drops if it were dropped as often as the rest.
const (
	MinShare   = 0.6
	MinDropped = 6 // findings dropped by id, with a reason
	MinPulls   = 3
	MinDrafts  = 2
	MaxChance  = 0.05

	minIgnored   = 10 // dropped findings before proposing to ignore files altogether
	maxHabits    = 20
	maxNameBytes = 200 // in a glob or a rule
)

// Habit is a kind of finding that approvers drop again and again.
type Habit struct {
	Cause
	Dropped int         `json:"dropped"`
	Judged  int         `json:"judged"`
	Pulls   int         `json:"pulls"`
	Drafts  int         `json:"drafts"`
	Share   Interval    `json:"share"` // dropped among judged
	Drops   []Judgement `json:"drops"` // the dropped findings

	kinds map[string]Tally // tally of the judged findings by category
}

// Cause is what the findings of a habit have in common: they are the model's, of a category, in files of a glob; or
// of a rule, in any file (no Glob); or all those in files of a glob (no Category, no Rule).
type Cause struct {
	Category string `json:"category,omitempty"`
	Rule     string `json:"rule,omitempty"` // as RuleOf returns it; untrusted text
	Glob     string `json:"glob,omitempty"`
}

// Judgement is an approver's opinion on a finding: that it is wrong, or, by approving the
// draft with it, that it is right. Reason and By are untrusted text.
type Judgement struct {
	Thread  string         `json:"thread_id"`
	Finding decision.Shown `json:"finding"`
	Reason  string         `json:"reason"`
	By      string         `json:"by"`
	Dropped bool           `json:"-"`

	causes []Cause // for which it may be evidence
}

// Pull returns the pull request that the draft was about, or the thread for local input.
func (j Judgement) Pull() string {
	of := j.Thread[:max(0, strings.LastIndexByte(j.Thread, ':'))]
	if !strings.Contains(of, "#") {
		return j.Thread
	}
	before, _, _ := strings.Cut(of, "@") // of any instance
	return before
}

// Habits returns what approvers drop again and again: files, then categories, then rules, the surest of each first. A
// finding counts for one habit only. Findings about credentials or hidden text never form a habit, nor do categories
// and rules that have shown a blocker, nor files in which one was shown.
func Habits(verdicts []decision.Record) []Habit {
	left, barred := judgements(verdicts)
	var found []Habit
	for _, kind := range []func(Cause) bool{
		func(c Cause) bool { return c.Category+c.Rule == "" },
		func(c Cause) bool { return c.Category != "" },
		func(c Cause) bool { return c.Rule != "" },
	} {
		for len(found) < maxHabits {
			best, ok := surestHabit(left, kind, barred)
			if !ok {
				break
			}
			left = slices.DeleteFunc(left, best.covers)
			found = append(found, best)
		}
	}
	return found
}

// judgements returns the judgements in verdicts. barred reports whether a habit must not be proposed.
func judgements(verdicts []decision.Record) (judged []Judgement, barred func(Habit) bool) {
	var grave []Judgement
	for _, r := range verdicts {
		for _, f := range r.Findings {
			j := Judgement{Thread: r.Thread, Finding: f, By: r.By, causes: causes(f)}
			if f.Severity == finding.Blocker || f.Category == finding.Secret || f.Category == finding.HiddenText {
				grave = append(grave, j)
			}
			came := outcome(r, f)
			if j.Dropped = came.Dropped == 1; j.Dropped {
				drop := slices.IndexFunc(r.Dropped, func(d decision.Drop) bool { return d.ID == f.ID })
				j.Reason = r.Dropped[drop].Reason
			}
			if came.Kept+came.Dropped > 0 {
				judged = append(judged, j)
			}
		}
	}
	return judged, func(h Habit) bool {
		return slices.ContainsFunc(grave, func(j Judgement) bool {
			sameCategory := h.Category != "" && strings.EqualFold(h.Category, j.Finding.Category)
			return sameCategory || h.covers(j)
		})
	}
}

// covers reports whether a judgement is about a finding with that cause.
func (c Cause) covers(j Judgement) bool { return slices.Contains(j.causes, c) }

var categoryName = pattern.Lazy(`^[a-z][a-z0-9-]{0,39}$`)

// causes returns the causes for which a judgement on a finding may be evidence.
func causes(f decision.Shown) (all []Cause) {
	if name := RuleOf(f); name != "" && len(name) <= maxNameBytes && guard.Line(name, 0) == name {
		all = append(all, Cause{Rule: name})
	}
	category := strings.ToLower(f.Category)
	named := f.Source == string(finding.Model) && category != "other" && categoryName().MatchString(category)
	for _, glob := range globs(f.Path) {
		if glob != everywhere {
			all = append(all, Cause{Glob: glob})
		}
		if named {
			all = append(all, Cause{Category: category, Glob: glob})
		}
	}
	return all
}

// surestHabit returns the habit of a kind whose drop rate has the highest lower bound; ties
// go to more drops, then to the narrower one. If habits widen it, it returns the best of those.
func surestHabit(judged []Judgement, kind func(Cause) bool, barred func(Habit) bool) (Habit, bool) {
	all, dropped, looked := candidates(judged, kind), 0, 0
	for _, j := range judged {
		dropped += boolToInt(j.Dropped)
	}
	for _, h := range all {
		looked += boolToInt(h.Judged >= MinDropped)
	}
	var best Habit
	var likely []Habit
	for _, h := range all {
		rest, of := dropped-len(h.Drops), len(judged)-h.Judged
		if h.reachesThresholds(len(judged)) && !barred(*h) &&
			float64(looked)*binomialTail(h.Dropped, h.Judged, rest, of) <= MaxChance {
			likely = append(likely, *h)
			if better(*h, best) {
				best = *h
			}
		}
	}
	narrow := best
	for _, h := range likely {
		if h.widens(narrow, judged) && (best.Cause == narrow.Cause || better(h, best)) {
			best = h
		}
	}
	return best, best.Judged > 0
}

// candidates returns all possible habits of a kind, with the judgements on them counted.
func candidates(judged []Judgement, kind func(Cause) bool) map[Cause]*Habit {
	all := map[Cause]*Habit{}
	for _, j := range judged {
		for _, c := range j.causes {
			if !kind(c) {
				continue
			}
			if all[c] == nil {
				all[c] = &Habit{Cause: c, kinds: map[string]Tally{}}
			}
			h := all[c]
			h.Judged++
			kind := h.kinds[j.Finding.Category]
			kind.add(Tally{Found: 1, Dropped: boolToInt(j.Dropped)})
			h.kinds[j.Finding.Category] = kind
			if j.Dropped {
				h.Drops = append(h.Drops, j)
			}
		}
	}
	return all
}

// widens reports whether a habit is the same as a narrower one, but in more files: the
// findings that it adds are dropped too.
func (h Habit) widens(narrow Habit, judged []Judgement) bool {
	more, of := h.Dropped-narrow.Dropped, h.Judged-narrow.Judged
	return more >= MinDropped/2 && float64(more) >= 0.75*float64(of) &&
		!slices.ContainsFunc(judged, func(j Judgement) bool { return narrow.covers(j) && !h.covers(j) })
}

// binomialTail returns the probability that k or more of n findings are dropped, if each is
// dropped as often as the others, of which rest of of were; one in two if there are none.
func binomialTail(k, n, rest, of int) (chance float64) {
	for ; k <= n; k++ {
		chance += Binomial(k, n, (float64(rest)+1)/(float64(of)+2))
	}
	return chance
}

// reachesThresholds sets the totals of a habit, and reports whether they reach the
// thresholds. judged is the number of judged findings of all causes.
func (h *Habit) reachesThresholds(judged int) bool {
	pulls, drafts := map[string]bool{}, map[string]bool{}
	for _, j := range h.Drops {
		pulls[j.Pull()], drafts[j.Thread] = true, true
	}
	h.Dropped, h.Pulls, h.Drafts, h.Share = len(h.Drops), len(pulls), len(drafts), *Wilson(len(h.Drops), h.Judged)
	if h.Category+h.Rule == "" && (h.Dropped < minIgnored || 2*h.Judged > judged || !h.isMixed()) {
		return false
	}
	return h.Dropped >= MinDropped && h.Pulls >= MinPulls && h.Drafts >= MinDrafts && h.Share.Low >= MinShare
}

// isMixed reports whether h would be a habit without its most dropped category. If a single
// category makes the habit, a guideline is enough.
func (h *Habit) isMixed() bool {
	rest, most := Tally{}, Tally{}
	for _, kind := range h.kinds {
		rest.add(kind)
		if kind.Dropped > most.Dropped || kind.Dropped == most.Dropped && kind.Found < most.Found {
			most = kind
		}
	}
	share := Wilson(rest.Dropped-most.Dropped, rest.Found-most.Found)
	return rest.Dropped-most.Dropped >= MinDropped && share.Low >= MinShare
}

func better(a, b Habit) bool {
	narrow := func(h Habit) int { return len(strings.TrimPrefix(strings.TrimPrefix(h.Glob, "**"), "/")) }
	return cmp.Or(cmp.Compare(a.Share.Low, b.Share.Low), cmp.Compare(a.Dropped, b.Dropped),
		cmp.Compare(narrow(a), narrow(b)), cmp.Compare(a.Glob, b.Glob), cmp.Compare(b.Category, a.Category),
		cmp.Compare(b.Rule, a.Rule)) > 0
}

const everywhere = "**"

// globs returns the globs that match a path and may name a habit: everywhere, the file, its
// name, its suffixes from each dot or underscore, its folders from the top and by name.
func globs(file string) []string {
	all := []string{everywhere}
	if file == "" || len(file) > maxNameBytes || guard.Line(file, 0) != file ||
		strings.ContainsAny(file, `*?[]{}\!,`) ||
		!fs.ValidPath(file) {
		return all
	}
	folder, base := path.Split(file)
	all = append(all, file, base)
	for i := range base {
		if i > 0 && (base[i] == '.' || base[i] == '_') {
			all = append(all, "*"+base[i:])
		}
	}
	parts := strings.Split(strings.TrimSuffix(folder, "/"), "/")
	for i, part := range parts {
		if part != "" {
			all = append(all, strings.Join(parts[:i+1], "/")+"/**", "**/"+part+"/**")
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(glob string) bool {
		return !pattern.Matches([]string{glob}, file)
	})
}
