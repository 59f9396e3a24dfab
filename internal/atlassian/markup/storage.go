package markup

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// Storage turns a page in Confluence's storage format, XHTML with ac: and ri:
// elements, into Markdown as ADF does. What is not shown on the page is left out:
// comments, scripts, hidden elements, bodies of html macros. Text behind a place
// that does not parse is cut.
func Storage(text string) string {
	page, cut := parsed(text)
	r := &renderer{cut: cut}
	return capped(r.blocks(node{"content": page.inner(nil)}, 0, "\n\n"), r.cut)
}

// maxOpen bounds the elements that are open at once.
const maxOpen = 500

// element is an element of a page, or a text where it has no name.
type element struct {
	name     string // with its prefix, in lower case
	attrs    map[string]string
	text     string
	children []*element
}

// parsed reads a page as far as it parses; cut says that there was more.
func parsed(text string) (page *element, cut bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, []string{"br", "hr", "img", "col"}
	page = &element{name: "page"}
	open := []*element{page}
	for {
		token, err := d.Token()
		if err != nil || len(open) > maxOpen {
			return page, !errors.Is(err, io.EOF)
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: fullName(t.Name), attrs: map[string]string{}}
			for _, a := range t.Attr {
				e.attrs[fullName(a.Name)] = a.Value
			}
			top.children, open = append(top.children, e), append(open, e)
		case xml.EndElement:
			open = open[:max(1, len(open)-1)]
		case xml.CharData:
			top.children = append(top.children, &element{text: strings.ReplaceAll(string(t), "\u00a0", " ")})
		}
	}
}

func fullName(n xml.Name) string {
	if n.Space == "" {
		return strings.ToLower(n.Local)
	}
	return strings.ToLower(n.Space + ":" + n.Local)
}

func (e *element) hidden() bool {
	style := strings.ReplaceAll(strings.ToLower(e.attrs["style"]), " ", "")
	_, hidden := e.attrs["hidden"]
	return hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// raw is all text in an element as it is written.
func (e *element) raw() string {
	var b strings.Builder
	b.WriteString(e.text)
	for _, c := range e.children {
		b.WriteString(c.raw())
	}
	return b.String()
}

// child is the first element of a name directly below one, and an empty one where there is
// none; with a key, the one whose ac:name that is.
func (e *element) child(name, key string) *element {
	for _, c := range e.children {
		if c.name == name && (key == "" || c.attrs["ac:name"] == key) {
			return c
		}
	}
	return &element{}
}

// loose are the elements between whose children blanks mean nothing.
var loose = []string{"ul", "ol", "table", "tbody", "thead", "tfoot", "tr", "ac:task-list", "ac:task",
	"ac:structured-macro", "ac:link", "ac:image"}

// inner are the nodes of what an element holds, under the marks around it.
func (e *element) inner(around []any) (all []any) {
	for _, c := range e.children {
		switch blank := strings.TrimSpace(c.text) == ""; {
		case c.name != "":
			all = append(all, c.nodes(around)...)
		case !blank || !slices.Contains(loose, e.name):
			text := line(collapsed(c.text))
			text["marks"] = around
			all = append(all, text)
		}
	}
	return all
}

// collapsed is a text with single blanks, one at each end that has any.
func collapsed(s string) string {
	text := strings.Join(strings.Fields(s), " ")
	if strings.TrimLeft(s, " \t\r\n") != s {
		text = " " + text
	}
	if text != " " && strings.TrimRight(s, " \t\r\n") != s {
		text += " "
	}
	return text
}

// kinds are the nodes that elements are, marking the marks that they put on what they hold.
var (
	kinds = map[string]string{"p": "paragraph", "ul": "bulletList", "ol": "orderedList", "li": "listItem",
		"ac:task-list": "taskList", "table": "table", "tr": "tableRow", "blockquote": "blockquote", "hr": "rule",
		"br": "hardBreak", "div": "layoutSection", "section": "layoutSection", "ac:layout": "layoutSection",
		"ac:layout-section": "layoutSection", "ac:layout-cell": "layoutColumn"}
	marking = map[string]string{"strong": "strong", "b": "strong", "em": "em", "i": "em", "s": "strike",
		"del": "strike", "strike": "strike", "code": "code", "a": "link"}
)

// nodes are what an element comes to.
func (e *element) nodes(around []any) []any {
	if e.hidden() {
		return nil
	}
	if mark := marking[e.name]; mark != "" {
		around = append(slices.Clip(around), made(mark, nil, "href", e.attrs["href"]))
	}
	if kind := kinds[e.name]; kind != "" {
		return []any{made(kind, e.inner(around))}
	}
	switch e.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return []any{made("heading", e.inner(around), "level", float64(e.name[1]-'0'))}
	case "td", "th":
		return []any{made("tableCell", e.inner(around), "colspan", number(e.attrs["colspan"]))}
	case "pre":
		return codeBlock(e.raw(), "")
	case "time":
		return []any{line(e.attrs["datetime"])}
	case "ac:structured-macro", "ac:macro":
		return e.macro(around)
	case "ac:task":
		state := map[bool]string{true: "DONE"}[strings.TrimSpace(e.child("ac:task-status", "").raw()) == "complete"]
		return []any{made("taskItem", e.inner(around), "state", state)}
	case "ac:plain-text-link-body":
		return []any{line(e.raw())}
	case "ac:link":
		return e.link(around)
	case "ac:image":
		address := e.child("ri:url", "").attrs["ri:value"]
		return []any{made("mediaInline", nil, "type", map[bool]string{true: "external"}[address != ""],
			"url", address, "alt", e.child("ri:attachment", "").attrs["ri:filename"])}
	case "ac:emoticon":
		return []any{made("emoji", nil, "text", e.attrs["ac:emoji-fallback"], "shortName", ":"+e.attrs["ac:name"]+":")}
	case "script", "style", "colgroup", "col", "ac:placeholder", "ac:task-id", "ac:task-status", "ac:parameter",
		"ac:plain-text-body":
		return nil
	}
	return e.inner(around)
}

func made(kind string, content []any, attrs ...any) map[string]any {
	of := map[string]any{}
	for pair := range slices.Chunk(attrs, 2) {
		of[pair[0].(string)] = pair[1]
	}
	return map[string]any{"type": kind, "content": content, "attrs": of}
}

// number is a small number of an attribute, 1 where it is none.
func number(s string) float64 {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' || n > maxColumns {
			return maxColumns
		}
		n = 10*n + int(r-'0')
	}
	return float64(max(n, 1))
}

func line(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func codeBlock(text, language string) []any {
	return []any{made("codeBlock", []any{line(strings.Trim(text, "\n"))}, "language", language)}
}

// link is what a link shows: its own words, else what it leads to.
func (e *element) link(around []any) []any {
	if shown := e.inner(around); len(shown) > 0 {
		return shown
	}
	if e.child("ri:user", "").name != "" {
		return []any{made("mention", nil)}
	}
	return []any{line(e.child("ri:page", "").attrs["ri:content-title"] +
		e.child("ri:blog-post", "").attrs["ri:content-title"] + e.child("ri:attachment", "").attrs["ri:filename"])}
}

func (e *element) macro(around []any) []any {
	shown, kind := e.inner(around), strings.ToLower(e.attrs["ac:name"])
	given := func(name string) string { return e.child("ac:parameter", name).raw() }
	switch kind {
	case "code", "noformat":
		return codeBlock(e.child("ac:plain-text-body", "").raw(), given("language"))
	case "html", "html-include", "style", "script", "css":
		return nil
	case "info", "note", "warning", "tip", "panel":
		return []any{made("panel", shown, "panelType", kind)}
	case "expand":
		return []any{made("expand", shown, "title", given("title"))}
	case "status":
		return []any{made("status", nil, "text", given("title"))}
	case "jira":
		return []any{line(given("key"))}
	}
	if len(shown) == 0 {
		return []any{made("extension", nil, "extensionKey", kind)}
	}
	return []any{made("bodiedExtension", shown)}
}
