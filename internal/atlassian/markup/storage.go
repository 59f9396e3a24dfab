package markup

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxOpen bounds the elements that are open at once.
const maxOpen = 500

// Storage converts a page in Confluence's storage format, XHTML with ac: and ri: elements, to Markdown, as ADF does.
// It leaves out what the page does not show: comments, scripts, hidden elements, bodies of html macros. Text after a
// syntax error is cut.
func Storage(text string) string {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, []string{"br", "hr", "img", "col"}
	open := []*element{{says: map[string]string{}}}
	var token xml.Token
	var err error
	for err == nil && len(open) <= maxOpen {
		top := open[len(open)-1]
		switch token, err = d.Token(); t := token.(type) {
		case xml.StartElement:
			open = append(open, top.begun(t))
		case xml.EndElement:
			open = closed(open)
		case xml.CharData:
			top.write(strings.ReplaceAll(string(t), "\u00a0", " "))
		}
	}
	r := &renderer{cut: !errors.Is(err, io.EOF)}
	for len(open) > 1 {
		open = closed(open)
	}
	return capped(r.blocks(node{"content": open[0].holds}, 0, "\n\n"), r.cut)
}

// element is an element in progress, and its content so far as nodes of ADF.
type element struct {
	name  string            // with its prefix, in lower case
	says  map[string]string // its attributes, and what child elements without text say about it
	marks []any             // of its text
	exact bool              // whether white space counts
	holds []any
}

func fullName(n xml.Name) string {
	return strings.ToLower(strings.TrimPrefix(n.Space+":"+n.Local, ":"))
}

// begun returns an element that begins inside another one.
func (e *element) begun(t xml.StartElement) *element {
	in := &element{name: fullName(t.Name), says: map[string]string{}, marks: e.marks}
	in.exact = e.exact || in.name == "pre" || in.name == "ac:plain-text-body"
	for _, a := range t.Attr {
		in.says[fullName(a.Name)] = a.Value
	}
	if mark := marking[in.name]; mark != "" {
		in.marks = append(slices.Clip(e.marks),
			made(mark, nil, map[string]any{"href": in.says["href"]})...)
	}
	return in
}

// loose are the elements between whose children white space means nothing.
var loose = []string{"ul", "ol", "table", "tbody", "thead", "tfoot", "tr", "ac:task-list", "ac:task",
	"ac:structured-macro", "ac:link", "ac:image"}

var blanks = regexp.MustCompile(`[ \t\r\n]+`)

func (e *element) write(text string) {
	if !e.exact {
		text = blanks.ReplaceAllString(text, " ")
	}
	if text != " " || !slices.Contains(loose, e.name) {
		e.holds = append(e.holds, map[string]any{"type": "text", "text": text, "marks": e.marks})
	}
}

// text returns all the text in an element.
func (e *element) text() string { return textOf(e.holds) }

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

// closed ends the innermost element, and adds its content or its properties to the one around it.
func closed(open []*element) []*element {
	above, e := open[len(open)-2], open[len(open)-1]
	switch {
	case strings.HasPrefix(e.name, "ri:"):
		if above.name == "ac:link" || above.name == "ac:image" {
			above.says[e.name] = "there"
			for _, name := range resource {
				above.says[name] = cmp.Or(above.says[name], e.says[name])
			}
		}
	case e.name == "ac:parameter":
		name := "parameter " + e.says["ac:name"]
		above.says[name] = cmp.Or(above.says[name], e.text())
	case e.name == "ac:task-status", e.name == "ac:plain-text-body":
		above.says[e.name] = e.text()
	case !e.hidden():
		above.holds = append(above.holds, e.nodes()...)
	}
	return open[:len(open)-1]
}

// resource lists the attributes by which a link or picture names its target.
var resource = []string{"ri:content-title", "ri:filename", "ri:value"}

func (e *element) hidden() bool {
	style := strings.ReplaceAll(strings.ToLower(e.says["style"]), " ", "")
	_, hidden := e.says["hidden"]
	return hidden || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// kinds maps elements to nodes; marking maps elements to the marks on their content.
var (
	kinds = map[string]string{"p": "paragraph", "ul": "bulletList", "ol": "orderedList", "li": "listItem",
		"ac:task-list": "taskList", "table": "table", "tr": "tableRow", "blockquote": "blockquote", "hr": "rule",
		"br": "hardBreak", "div": "layoutSection", "section": "layoutSection", "ac:layout": "layoutSection",
		"ac:layout-section": "layoutSection", "ac:layout-cell": "layoutColumn"}
	marking = map[string]string{"strong": "strong", "b": "strong", "em": "em", "i": "em", "s": "strike",
		"del": "strike", "strike": "strike", "code": "code", "a": "link"}
)

func made(kind string, content []any, attrs map[string]any) []any {
	return []any{map[string]any{"type": kind, "content": content, "attrs": attrs}}
}

func line(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }

func codeBlock(text, language string) []any {
	return made("codeBlock", line(strings.Trim(text, "\n")), map[string]any{"language": language})
}

// nodes returns the nodes that an element becomes.
func (e *element) nodes() []any {
	if kind := kinds[e.name]; kind != "" {
		return made(kind, e.holds, nil)
	}
	switch e.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return made("heading", e.holds, map[string]any{"level": float64(e.name[1] - '0')})
	case "td", "th":
		columns, _ := strconv.ParseFloat(e.says["colspan"], 64) // anything but a number is one column
		return made("tableCell", e.holds, map[string]any{"colspan": columns})
	case "pre":
		return codeBlock(e.text(), "")
	case "time":
		return line(e.says["datetime"])
	case "ac:structured-macro", "ac:macro":
		return e.macro()
	case "ac:task":
		done := map[bool]string{true: "DONE"}[strings.TrimSpace(e.says["ac:task-status"]) == "complete"]
		return made("taskItem", e.holds, map[string]any{"state": done})
	case "ac:link": // its own words, else its target
		switch {
		case len(e.holds) > 0:
			return e.holds
		case e.says["ri:user"] != "":
			return made("mention", nil, nil)
		}
		return line(e.says["ri:content-title"] + e.says["ri:filename"])
	case "ac:image":
		return made("mediaInline", nil, map[string]any{"type": "external", "url": e.says["ri:value"],
			"alt": e.says["ri:filename"]})
	case "ac:emoticon":
		return made("emoji", nil, map[string]any{"text": e.says["ac:emoji-fallback"],
			"shortName": ":" + e.says["ac:name"] + ":"})
	case "script", "style", "colgroup", "col", "ac:placeholder", "ac:task-id":
		return nil
	}
	return e.holds
}

func (e *element) macro() []any {
	switch kind := strings.ToLower(e.says["ac:name"]); kind {
	case "code", "noformat":
		return codeBlock(e.says["ac:plain-text-body"], e.says["parameter language"])
	case "html", "html-include", "style", "script", "css":
		return nil
	case "info", "note", "warning", "tip", "panel":
		return made("panel", e.holds, map[string]any{"panelType": kind})
	case "expand":
		return made("expand", e.holds, map[string]any{"title": e.says["parameter title"]})
	case "status":
		return made("status", nil, map[string]any{"text": e.says["parameter title"]})
	case "jira":
		return line(e.says["parameter key"])
	default:
		if len(e.holds) == 0 {
			return made("extension", nil, map[string]any{"extensionKey": kind})
		}
	}
	return e.holds
}
