package githubtest

import (
	"strconv"
	"strings"
)

// thread is a comment on the diff with what answers it.
type thread struct {
	review  *Review
	first   *Comment
	answers int
}

func (t thread) id() string { return "PRRT_" + strconv.FormatInt(t.first.ID, 10) }

// threads are those of reviews that were posted.
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

// threadsPage is a page of a hundred threads behind the first so many.
func threadsPage(c *call, all []*thread, after int) object {
	end := min(after+100, len(all))
	nodes := []object{}
	for _, t := range all[min(after, end):end] {
		first := object{"fullDatabaseId": strconv.FormatInt(t.first.ID, 10), "viewerDidAuthor": c.Who.Is(t.review.User)}
		nodes = append(nodes, object{"id": t.id(), "isResolved": t.first.Resolved, "resolvedBy": t.first.closer(),
			"comments": object{"totalCount": 1 + t.answers, "nodes": []object{first}}})
	}
	return object{"pageInfo": object{"hasNextPage": end < len(all), "endCursor": strconv.Itoa(end)}, "nodes": nodes}
}

// closer is the user who resolved the thread; of an app GitHub tells none.
func (k *Comment) closer() object {
	if k.ResolvedBy == "" || strings.HasSuffix(k.ResolvedBy, "[bot]") {
		return nil
	}
	return object{"login": k.ResolvedBy}
}
