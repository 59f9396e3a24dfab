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
	b := &builder{}
	b.start(xml.StartElement{Name: xml.Name{Local: "page"}})
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, []string{"br", "hr", "img", "col"}
	cut := false
	for {
		token, err := d.Token()
		if err != nil || len(b.stack) > maxOpen {
			cut = !errors.Is(err, io.EOF)
			break
		}
		b.token(token)
	}
	for len(b.stack) > 1 {
		b.end()
	}
	r := &renderer{cut: cut}
	return capped(r.blocks(node{"content": b.stack[0].content}, 0, "\n\n"), r.cut)
}

// maxOpen bounds the elements that are open at once.
const maxOpen = 500

// builder makes the nodes of a document out of elements.
type builder struct{ stack []*element }

// element is an element that is open, and what its children gave it.
type element struct {
	name    string // with its prefix, in lower case
	attrs   map[string]string
	content []any
	raw     strings.Builder // of elements whose text is no part of a line
	params  map[string]string
	link    map[string]string // what ri: elements name
	hidden  bool
}

func (b *builder) top() *element { return b.stack[len(b.stack)-1] }

func (b *builder) token(token xml.Token) {
	switch t := token.(type) {
	case xml.StartElement:
		b.start(t)
	case xml.EndElement:
		if len(b.stack) > 1 {
			b.end()
		}
	case xml.CharData:
		b.text(string(t))
	}
}

func fullName(n xml.Name) string {
	if n.Space == "" {
		return strings.ToLower(n.Local)
	}
	return strings.ToLower(n.Space + ":" + n.Local)
}

func (b *builder) start(t xml.StartElement) {
	e := &element{name: fullName(t.Name), attrs: map[string]string{}, params: map[string]string{},
		link: map[string]string{}}
	for _, a := range t.Attr {
		e.attrs[fullName(a.Name)] = a.Value
	}
	style := strings.ReplaceAll(strings.ToLower(e.attrs["style"]), " ", "")
	_, hidden := e.attrs["hidden"]
	e.hidden = hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
	b.stack = append(b.stack, e)
}

// verbatim are the elements whose text is kept as it is.
var verbatim = []string{"pre", "ac:parameter", "ac:plain-text-body", "ac:plain-text-link-body", "ac:task-status",
	"ac:task-id", "time", "script", "style"}

// loose are the elements between whose children blanks mean nothing.
var loose = []string{"ul", "ol", "table", "tbody", "thead", "tfoot", "tr", "ac:task-list", "ac:task",
	"ac:structured-macro", "ac:link", "ac:image"}

var noBreak = strings.NewReplacer("\u00a0", " ")

func (b *builder) text(s string) {
	s = noBreak.Replace(s)
	for _, e := range slices.Backward(b.stack) {
		if slices.Contains(verbatim, e.name) {
			e.raw.WriteString(s)
			return
		}
	}
	if slices.Contains(loose, b.top().name) && strings.TrimSpace(s) == "" {
		return
	}
	collapsed := strings.Join(strings.Fields(s), " ")
	if strings.TrimLeft(s, " \t\r\n") != s {
		collapsed = " " + collapsed
	}
	if collapsed != " " && strings.TrimRight(s, " \t\r\n") != s {
		collapsed += " "
	}
	b.add(map[string]any{"type": "text", "text": collapsed, "marks": b.marks()})
}

// marks are those of the elements around a text.
func (b *builder) marks() (all []any) {
	kinds := map[string]string{"strong": "strong", "b": "strong", "em": "em", "i": "em", "s": "strike",
		"del": "strike", "strike": "strike", "code": "code"}
	for _, e := range b.stack {
		if kind := kinds[e.name]; kind != "" {
			all = append(all, map[string]any{"type": kind})
		}
		if e.name == "a" {
			all = append(all, map[string]any{"type": "link", "attrs": map[string]any{"href": e.attrs["href"]}})
		}
	}
	return all
}

func (b *builder) add(nodes ...any) { b.top().content = append(b.top().content, nodes...) }

func made(kind string, content []any, attrs map[string]any) map[string]any {
	return map[string]any{"type": kind, "content": content, "attrs": attrs}
}

// end closes the innermost element and gives what it came to to the one around it.
func (b *builder) end() {
	e := b.top()
	b.stack = b.stack[:len(b.stack)-1]
	if e.hidden {
		return
	}
	kinds := map[string]string{"p": "paragraph", "ul": "bulletList", "ol": "orderedList", "li": "listItem",
		"ac:task-list": "taskList", "table": "table", "tr": "tableRow", "blockquote": "blockquote", "hr": "rule",
		"br": "hardBreak", "div": "layoutSection", "section": "layoutSection", "ac:layout": "layoutSection",
		"ac:layout-section": "layoutSection", "ac:layout-cell": "layoutColumn"}
	switch {
	case kinds[e.name] != "":
		b.add(made(kinds[e.name], e.content, nil))
	case len(e.name) == 2 && e.name[0] == 'h' && e.name[1] >= '1' && e.name[1] <= '6':
		b.add(made("heading", e.content, map[string]any{"level": float64(e.name[1] - '0')}))
	case e.name == "td", e.name == "th":
		b.add(made("tableCell", e.content, map[string]any{"colspan": number(e.attrs["colspan"])}))
	case strings.HasPrefix(e.name, "ac:"), strings.HasPrefix(e.name, "ri:"):
		b.confluence(e)
	default:
		b.plain(e)
	}
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

func (b *builder) plain(e *element) {
	switch e.name {
	case "pre":
		b.add(codeBlock(e.raw.String(), ""))
	case "time":
		b.add(line(e.attrs["datetime"]))
	case "script", "style", "colgroup", "col":
	default:
		b.add(e.content...)
	}
}

func line(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func codeBlock(text, language string) map[string]any {
	return made("codeBlock", []any{line(strings.Trim(text, "\n"))}, map[string]any{"language": language})
}

// confluence closes one of Confluence's own elements.
func (b *builder) confluence(e *element) {
	around := b.top()
	switch e.name {
	case "ac:structured-macro", "ac:macro":
		b.macro(e)
	case "ac:parameter":
		around.params[e.attrs["ac:name"]] = e.raw.String()
	case "ac:plain-text-body":
		around.params[" body"] = e.raw.String()
	case "ac:task":
		b.add(made("taskItem", e.content, map[string]any{"state": e.params[" state"]}))
	case "ac:task-status":
		if strings.TrimSpace(e.raw.String()) == "complete" {
			around.params[" state"] = "DONE"
		}
	case "ac:plain-text-link-body":
		b.add(line(e.raw.String()))
	case "ri:page", "ri:blog-post":
		around.link["title"] = e.attrs["ri:content-title"]
	case "ri:user":
		around.link["user"] = "user"
	case "ri:url":
		around.link["url"] = e.attrs["ri:value"]
	case "ri:attachment":
		around.link["file"] = e.attrs["ri:filename"]
	case "ac:link":
		b.link(e)
	case "ac:image":
		kind := "file"
		if e.link["url"] != "" {
			kind = "external"
		}
		b.add(made("mediaInline", nil, map[string]any{"type": kind, "url": e.link["url"], "alt": e.link["file"]}))
	case "ac:emoticon":
		b.add(made("emoji", nil, map[string]any{"text": e.attrs["ac:emoji-fallback"],
			"shortName": ":" + e.attrs["ac:name"] + ":"}))
	case "ac:placeholder", "ac:task-id":
	default:
		b.add(e.content...)
	}
}

func (b *builder) link(e *element) {
	switch {
	case len(e.content) > 0:
		b.add(e.content...)
	case e.link["user"] != "":
		b.add(made("mention", nil, nil))
	default:
		b.add(line(e.link["title"] + e.link["file"]))
	}
}

func (b *builder) macro(e *element) {
	switch name := strings.ToLower(e.attrs["ac:name"]); name {
	case "code", "noformat":
		b.add(codeBlock(e.params[" body"], e.params["language"]))
	case "html", "html-include", "style", "script", "css":
	case "info", "note", "warning", "tip", "panel":
		b.add(made("panel", e.content, map[string]any{"panelType": name}))
	case "expand":
		b.add(made("expand", e.content, map[string]any{"title": e.params["title"]}))
	case "status":
		b.add(made("status", nil, map[string]any{"text": e.params["title"]}))
	case "jira":
		b.add(line(e.params["key"]))
	default:
		if len(e.content) == 0 {
			b.add(made("extension", nil, map[string]any{"extensionKey": name}))
			return
		}
		b.add(made("bodiedExtension", e.content, nil))
	}
}
