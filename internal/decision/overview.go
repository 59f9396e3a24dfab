package decision

import "slices"

// OverviewID names, in place of a finding, the sentences on what a change does, where
// they are posted. They can be dropped and edited.
const OverviewID = "O1"

// CheckOverview refuses commands about the overview of a draft that posts none. The error
// is an *Error.
func (d Decision) CheckOverview(posted bool) error {
	var bad Error
	for _, c := range d.Commands {
		if !posted && slices.Contains(c.IDs, OverviewID) {
			bad.add(c, "this draft posts no overview")
		}
	}
	return bad.orNil()
}

// Overview returns the sentences as decided, and whether they are left out.
func (d Decision) Overview(text string) (decided string, dropped bool) {
	for _, e := range d.Edit {
		if e.ID == OverviewID {
			text = e.Body
		}
	}
	return text, slices.ContainsFunc(d.Drop, func(x Drop) bool { return x.ID == OverviewID })
}
