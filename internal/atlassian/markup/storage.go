package markup

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// maxOpen bounds the elements that are open at once.
const maxOpen = 500

// Storage converts a page in Confluence's storage format, XHTML with ac: and ri: elements, to Markdown, as ADF does.
// It leaves out what the page does not show: comments, scripts, hidden elements, bodies of html macros. Text after a
// syntax error is cut.
func Storage(text string) string {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, []string{"br", "hr", "img", "col"}
	open := []*element{{attrs: map[string]string{}}}
	var token xml.Token
	var err error
	for err == nil && len(open) <= maxOpen {
		top := open[len(open)-1]
		switch token, err = d.Token(); t := token.(type) {
		case xml.StartElement:
			open = append(open, top.child(t))
		case xml.EndElement:
			open = closeTop(open)
		case xml.CharData:
			top.write(strings.ReplaceAll(string(t), "\u00a0", " "))
		}
	}
	r := &renderer{cut: !errors.Is(err, io.EOF)}
	for len(open) > 1 {
		open = closeTop(open)
	}
	return truncate(r.blocks(node{"content": open[0].content}, 0, "\n\n"), r.cut)
}

// element is an element in progress, and its content so far as nodes of ADF.
type element struct {
	name         string            // with its prefix, in lower case
	attrs        map[string]string // its attributes, and what child elements without text say about it
	marks        []any             // of its text
	preformatted bool              // whether white space counts
	content      []any
}

func fullName(n xml.Name) string {
	return strings.ToLower(strings.TrimPrefix(n.Space+":"+n.Local, ":"))
}

// child returns an element that begins inside another one.
func (e *element) child(t xml.StartElement) *element {
	in := &element{name: fullName(t.Name), attrs: map[string]string{}, marks: e.marks}
	in.preformatted = e.preformatted || in.name == "pre" || in.name == "ac:plain-text-body"
	for _, a := range t.Attr {
		in.attrs[fullName(a.Name)] = a.Value
	}
	if mark := markOf[in.name]; mark != "" {
		in.marks = append(slices.Clip(e.marks),
			newNodes(mark, nil, map[string]any{"href": in.attrs["href"]})...)
	}
	return in
}

// ignoresBlanks are the elements between whose children white space means nothing.
var ignoresBlanks = []string{"ul", "ol", "table", "tbody", "thead", "tfoot", "tr", "ac:task-list", "ac:task",
	"ac:structured-macro", "ac:link", "ac:image"}

var blanks = pattern.Lazy(`[ \t\r\n]+`)

func (e *element) write(text string) {
	if !e.preformatted {
		text = blanks().ReplaceAllString(text, " ")
	}
	if text != " " || !slices.Contains(ignoresBlanks, e.name) {
		e.content = append(e.content, map[string]any{"type": "text", "text": text, "marks": e.marks})
	}
}

// text returns all the text in an element.
func (e *element) text() string { return textOf(e.content) }

func textOf(nodes []any) string {
	var b strings.Builder
	for _, n := range nodes {
		n, _ := n.(map[string]any)
		text, _ := n["text"].(string)
		content, _ := n["content"].([]any)
		b.WriteString(text + textOf(content))
	}
	return b.String()
}

// closeTop ends the innermost element, and adds its content or its properties to the one around it.
func closeTop(open []*element) []*element {
	above, e := open[len(open)-2], open[len(open)-1]
	switch {
	case strings.HasPrefix(e.name, "ri:"):
		if above.name == "ac:link" || above.name == "ac:image" {
			above.attrs[e.name] = "there"
			for _, name := range resource {
				above.attrs[name] = cmp.Or(above.attrs[name], e.attrs[name])
			}
		}
	case e.name == "ac:parameter":
		name := "parameter " + e.attrs["ac:name"]
		above.attrs[name] = cmp.Or(above.attrs[name], e.text())
	case e.name == "ac:task-status", e.name == "ac:plain-text-body":
		above.attrs[e.name] = e.text()
	case !e.hidden():
		above.content = append(above.content, e.nodes()...)
	}
	return open[:len(open)-1]
}

// resource lists the attributes by which a link or picture names its target.
var resource = []string{"ri:content-title", "ri:filename", "ri:value"}

func (e *element) hidden() bool {
	style := strings.ReplaceAll(strings.ToLower(e.attrs["style"]), " ", "")
	_, hidden := e.attrs["hidden"]
	return hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// nodeOf maps elements to nodes; markOf maps elements to the marks on their content.
var (
	nodeOf = map[string]string{"p": "paragraph", "ul": "bulletList", "ol": "orderedList", "li": "listItem",
		"ac:task-list": "taskList", "table": "table", "tr": "tableRow", "blockquote": "blockquote", "hr": "rule",
		"br": "hardBreak", "div": "layoutSection", "section": "layoutSection", "ac:layout": "layoutSection",
		"ac:layout-section": "layoutSection", "ac:layout-cell": "layoutColumn"}
	markOf = map[string]string{"strong": "strong", "b": "strong", "em": "em", "i": "em", "s": "strike",
		"del": "strike", "strike": "strike", "code": "code", "a": "link"}
)

func newNodes(kind string, content []any, attrs map[string]any) []any {
	return []any{map[string]any{"type": kind, "content": content, "attrs": attrs}}
}

func textNodes(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }

func codeBlock(text, language string) []any {
	return newNodes("codeBlock", textNodes(strings.Trim(text, "\n")), map[string]any{"language": language})
}

// nodes returns the nodes that an element becomes.
func (e *element) nodes() []any {
	if kind := nodeOf[e.name]; kind != "" {
		return newNodes(kind, e.content, nil)
	}
	switch e.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return newNodes("heading", e.content, map[string]any{"level": float64(e.name[1] - '0')})
	case "td", "th":
		columns, _ := strconv.ParseFloat(e.attrs["colspan"], 64) // anything but a number is one column
		return newNodes("tableCell", e.content, map[string]any{"colspan": columns})
	case "pre":
		return codeBlock(e.text(), "")
	case "time":
		return textNodes(e.attrs["datetime"])
	case "ac:structured-macro", "ac:macro":
		return e.macro()
	case "ac:task":
		done := map[bool]string{true: "DONE"}[strings.TrimSpace(e.attrs["ac:task-status"]) == "complete"]
		return newNodes("taskItem", e.content, map[string]any{"state": done})
	case "ac:link": // its own words, otherwise its target
		switch {
		case len(e.content) > 0:
			return e.content
		case e.attrs["ri:user"] != "":
			return newNodes("mention", nil, nil)
		}
		return textNodes(e.attrs["ri:content-title"] + e.attrs["ri:filename"])
	case "ac:image":
		return newNodes("mediaInline", nil, map[string]any{"type": "external", "url": e.attrs["ri:value"],
			"alt": e.attrs["ri:filename"]})
	case "ac:emoticon":
		return newNodes("emoji", nil, map[string]any{"text": e.attrs["ac:emoji-fallback"],
			"shortName": ":" + e.attrs["ac:name"] + ":"})
	case "script", "style", "colgroup", "col", "ac:placeholder", "ac:task-id":
		return nil
	}
	return e.content
}

func (e *element) macro() []any {
	switch kind := strings.ToLower(e.attrs["ac:name"]); kind {
	case "code", "noformat":
		return codeBlock(e.attrs["ac:plain-text-body"], e.attrs["parameter language"])
	case "html", "html-include", "style", "script", "css":
		return nil
	case "info", "note", "warning", "tip", "panel":
		return newNodes("panel", e.content, map[string]any{"panelType": kind})
	case "expand":
		return newNodes("expand", e.content, map[string]any{"title": e.attrs["parameter title"]})
	case "status":
		return newNodes("status", nil, map[string]any{"text": e.attrs["parameter title"]})
	case "jira":
		return textNodes(e.attrs["parameter key"])
	default:
		if len(e.content) == 0 {
			return newNodes("extension", nil, map[string]any{"extensionKey": kind})
		}
	}
	return e.content
}
