package recall

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
)

// FromState returns what a decided draft passes on to later ones: what it posted, what its
// approver dropped, and what it remembered. A rejected or withdrawn draft has posted and dropped
// nothing.
func FromState(comments []finding.Finding, record *decision.Record, earlier []finding.Earlier) []finding.Earlier {
	if record == nil || record.Decision == decision.Revise {
		return nil
	}
	approved := record.Decision == decision.Approve
	var all []finding.Earlier
	for _, f := range comments {
		e := finding.Earlier{
			Fate: finding.WasPosted, Fingerprint: f.Fingerprint, Path: f.Path, Side: f.Side,
			Quote: clip(f.Quote), Title: clip(f.Title), Category: f.Category, Severity: f.Severity,
			ID: f.ID, Listed: f.Filtered == finding.Repeat,
		}
		if i := slices.IndexFunc(comments, f.ListedBy); f.Filtered == finding.Repeat && i >= 0 {
			f.Filtered = comments[i].Filtered
		}
		if f.Filtered == finding.Dropped {
			e.Fate, e.By, e.ID = finding.WasDropped, record.By, ""
		}
		if approved && (f.Filtered == "" || f.Filtered == finding.Dropped) {
			all = append(all, e)
		}
	}
	for _, e := range earlier {
		if e.Fate == finding.WasCommented || e.Fingerprint == "" {
			continue
		}
		e.Announced = e.Announced || approved && e.Now == finding.Resolved
		if e.StartLine, e.Line, e.ReviewThread, e.Now, e.Closed = 0, 0, "", "", ""; e.Fate == finding.WasDropped {
			e.ID = ""
		}
		all = append(all, e)
	}
	return all
}

// mergeDrafts combines drafts with what GitHub shows. GitHub takes precedence: its findings are
// completed from the drafts, and findings that it does not show are added as the newest draft has
// them.
func (c Change) mergeDrafts(all []finding.Earlier) []finding.Earlier {
	told := map[key]bool{}
	for _, e := range all {
		told[keyOf(e)] = true
	}
	for _, draft := range c.Known {
		var news []finding.Earlier
		for _, k := range draft {
			k.Path = c.currentPath(k.Path)
			of := keyOf(k)
			if k.Fate == finding.WasPosted && !told[of] && told[key{finding.WasDropped, k.Fingerprint}] {
				continue // it was dropped later
			}
			if told[of] {
				fillCategory(all, k)
			} else if len(all)+len(news) < 2*maxPosted {
				news = append(news, k)
			}
		}
		for _, k := range news {
			told[keyOf(k)] = true
		}
		all = append(all, news...)
	}
	return all
}

type key struct {
	fate        finding.Fate
	fingerprint string
}

func keyOf(e finding.Earlier) key { return key{e.Fate, e.Fingerprint} }

// fillCategory fills in the first match without a category from a draft.
func fillCategory(all []finding.Earlier, k finding.Earlier) {
	for i, e := range all {
		if keyOf(e) != keyOf(k) || e.Category != "" {
			continue
		}
		if e.Path == "" && e.URL == "" {
			e.Path, e.Side, e.Quote = k.Path, k.Side, k.Quote
		}
		e.Title, e.Severity = cmp.Or(e.Title, k.Title), cmp.Or(e.Severity, k.Severity)
		e.Category, e.By = k.Category, cmp.Or(e.By, k.By)
		if e.ID == "" {
			e.ID, e.Listed = k.ID, k.Listed
		}
		all[i] = e
		return
	}
}
