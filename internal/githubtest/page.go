package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// page cuts a list to what per_page and page ask for, of at most limit items
// in all (0: no limit), and makes the Link header.
func page[T any](c *call, items []T, limit int) ([]T, http.Header) {
	if limit > 0 && len(items) > limit {
		items = items[:limit]
	}
	q := c.URL.Query()
	per, n := number(q.Get("per_page")), max(number(q.Get("page")), 1)
	if per <= 0 {
		per = 30
	}
	per = min(per, 100)
	last := max((len(items)+per-1)/per, 1)
	var links []string
	link := func(rel string, to int) {
		q.Set("page", strconv.Itoa(to))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.s.URL, c.URL.EscapedPath(), q.Encode(), rel))
	}
	if n > 1 {
		link("prev", n-1)
	}
	if n < last {
		link("next", n+1)
		link("last", last)
	}
	if n > 1 {
		link("first", 1)
	}
	h := http.Header{}
	if links != nil {
		h.Set("Link", strings.Join(links, ", "))
	}
	return items[min((n-1)*per, len(items)):min(n*per, len(items))], h
}

// list maps a list to JSON.
func list[T any](items []T, f func(T) object) []object {
	out := make([]object, 0, len(items))
	for _, i := range items {
		out = append(out, f(i))
	}
	return out
}

// paged answers a page of a list.
func paged[T any](c *call, items []T, limit int, f func(T) object) answer {
	items, h := page(c, items, limit)
	return ok(list(items, f)).with(h)
}
