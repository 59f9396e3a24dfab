// Package mcpclient reads tickets and pages from a server of the Model Context
// Protocol, and comments on tickets, by the tools that the settings name.
//
// Which tool is called, and with what, is fixed by the settings and by the key that
// was asked for; no model chooses. The client offers the server nothing: no roots,
// no sampling, no elicitation. A tool that is pinned and has changed is not called.
// Start at Server and New.
package mcpclient

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

// Tool is one tool: what it is given, and where its answer holds what, as names
// joined by dots.
type Tool struct {
	Name     string
	Argument string         // takes the key or id; empty where it stands in a further argument
	With     map[string]any // further arguments, in whose texts {id} is the key or id
	// fields of the answer; an empty one is not read
	Key, Summary, Description, Criteria, Title, Text string
}

// Options say what the server is.
type Options struct {
	Name    string   // what notes call it
	Command []string // program and arguments; else URL
	Env     []string // NAME=value, all that the program gets
	URL     string
	User    string // with a user the token is sent as Basic, else as Bearer, and without a token nothing is
	Token   string
	HTTP    *http.Client // transport.New's, that streams
	Ticket  Tool
	Page    Tool
	Comment Tool              // in whose arguments {text} is what is said
	Pins    map[string]string // digests of tools by their names
}

// Server asks one server. It connects when it is first asked, and again after the
// connection broke. It is safe for concurrent use.
type Server struct {
	o     Options
	mu    sync.Mutex
	open  *mcp.ClientSession
	tools map[string]*mcp.Tool
	ended bool

	tooLarge atomic.Bool // an answer was; the SDK drops what reading one said
}

// New makes a Server. Nothing is started before it is asked.
func New(o Options) *Server { return &Server{o: o} }

// protocol is the version that is asked for: a server that knows a newer one knows it.
const protocol = "2025-11-25"

// session is the open connection with the tools that the server has.
func (s *Server) session(ctx context.Context) (*mcp.ClientSession, map[string]*mcp.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, nil, atlassian.Fail("was ended")
	}
	if s.open != nil {
		return s.open, s.tools, nil
	}
	t, err := s.transport()
	if err != nil {
		return nil, nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "pr-review-action", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	open, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return nil, nil, err
	}
	tools := map[string]*mcp.Tool{}
	for tool, err := range open.Tools(ctx, nil) {
		if err != nil {
			_ = open.Close() // what went wrong before is what is told
			return nil, nil, err
		}
		if tools[tool.Name] = tool; len(tools) > maxTools {
			_ = open.Close()
			return nil, nil, atlassian.Fail("lists more than %d tools", maxTools)
		}
	}
	s.open, s.tools = open, tools
	return open, tools, nil
}

// maxTools bounds the tools that a server may list.
const maxTools = 1000

// Close ends the connection, and the program where there is one.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.drop()
}

// drop forgets a connection. How a server takes its end is no error of ours.
func (s *Server) drop() {
	if s.open != nil {
		_ = s.open.Close()
		s.open = nil
	}
}

// broken drops a connection that an error ended, so that the next request makes one.
func (s *Server) broken(was *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == was {
		s.drop()
	}
}

func (s *Server) transport() (mcp.Transport, error) {
	if len(s.o.Command) > 0 {
		return program(s.o.Command, s.o.Env)
	}
	hc := *s.o.HTTP
	hc.Transport = &authorized{next: hc.Transport, header: s.o.authorization(), tooLarge: &s.tooLarge}
	return &mcp.StreamableClientTransport{Endpoint: s.o.URL, HTTPClient: &hc, MaxRetries: -1,
		DisableStandaloneSSE: true, MaxEventSize: -1}, nil // the client bounds the answer
}

func (o Options) authorization() string {
	switch {
	case o.Token == "":
		return ""
	case o.User != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(o.User+":"+o.Token))
	}
	return "Bearer " + o.Token
}

// authorized adds the token, which the client below keeps on its host, and makes an
// error of an answer that says no, so that its status is not lost.
type authorized struct {
	next     http.RoundTripper
	header   string
	tooLarge *atomic.Bool
}

func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := req.Clone(req.Context())
	if a.header != "" {
		sent.Header.Set("Authorization", a.header)
	}
	resp, err := a.next.RoundTrip(sent)
	if err == nil && req.Method == http.MethodPost && resp.StatusCode >= http.StatusBadRequest {
		return nil, transport.Status(resp)
	}
	if err == nil {
		resp.Body = &watched{resp.Body, a.tooLarge}
	}
	return resp, err
}

// watched is a body that notes when it is too large.
type watched struct {
	io.ReadCloser
	tooLarge *atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if errors.Is(err, transport.ErrTooLarge) {
		w.tooLarge.Store(true)
	}
	return n, err
}

// Ticket reads a ticket, which may come back under another key where it was moved.
// Errors are *atlassian.Failure.
func (s *Server) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	a, err := s.call(ctx, s.o.Ticket, key)
	if err != nil {
		return ticket.Ticket{}, err
	}
	tool := s.o.Ticket
	t := ticket.Ticket{Key: a.names, Summary: markup.OneLine(a.text(tool.Summary)),
		Description: a.text(tool.Description)}
	if a.fields == nil {
		t.Description = a.whole
	}
	if t.Criteria = a.criteria(tool.Criteria); len(t.Criteria) == 0 {
		t.Criteria = ticket.CriteriaIn(t.Description)
	}
	if t.Description == "" && t.Summary == "" && len(t.Criteria) == 0 {
		return ticket.Ticket{}, atlassian.Fail("gave an answer for %s in which nothing stands where the settings say",
			key)
	}
	t.PageIDs = ticket.PageIDs(t.Description, ticket.InTicket)
	return t, nil
}

// Page reads a page. Errors are *atlassian.Failure.
func (s *Server) Page(ctx context.Context, id string) (ticket.Page, error) {
	a, err := s.call(ctx, s.o.Page, id)
	if err != nil {
		return ticket.Page{}, err
	}
	if a.names != id {
		return ticket.Page{}, atlassian.Fail("answered with another page than %s", id)
	}
	p := ticket.Page{ID: id, Title: markup.OneLine(a.text(s.o.Page.Title)), Text: a.text(s.o.Page.Text)}
	if a.fields == nil {
		p.Text = a.whole
	}
	if p.Text == "" {
		return ticket.Page{}, atlassian.Fail("gave an answer for %s in which no text stands where the settings say", id)
	}
	return p, nil
}

// Mentions reports whether what the tool for tickets says of a ticket holds a text, such
// as an address in one of its comments: a server whose answers have no comments never
// does. Errors are *atlassian.Failure.
func (s *Server) Mentions(ctx context.Context, key, text string) (bool, error) {
	if s.o.Ticket.Name == "" {
		return false, nil
	}
	t := s.o.Ticket
	if _, limited := t.With[commentLimit]; limited {
		t.With = maps.Clone(t.With)
		t.With[commentLimit] = 50
	}
	a, err := s.call(ctx, t, key)
	return strings.Contains(a.whole, text), err
}

// commentLimit is an argument of a known server's tool for tickets.
const commentLimit = "comment_limit"

// Comment puts a comment under a ticket: text, and an address. It makes one call.
// Errors are *atlassian.Failure.
func (s *Server) Comment(ctx context.Context, key, text, address string) error {
	t := s.o.Comment
	t.With = maps.Clone(t.With)
	for name, v := range t.With {
		if form, ok := v.(string); ok {
			t.With[name] = strings.ReplaceAll(form, "{text}", text+" "+address)
		}
	}
	result, err := s.called(ctx, t, key)
	if err == nil {
		_, err = whole(result, key)
	}
	return err
}

// call asks a tool for one thing and reads its answer.
func (s *Server) call(ctx context.Context, t Tool, id string) (answer, error) {
	result, err := s.called(ctx, t, id)
	if err != nil {
		return answer{}, err
	}
	return read(result, t, id)
}

func (s *Server) called(ctx context.Context, t Tool, id string) (*mcp.CallToolResult, error) {
	session, tools, err := s.session(ctx)
	if err != nil {
		return nil, s.failure(err, id)
	}
	tool := tools[t.Name]
	if tool == nil {
		return nil, atlassian.Fail("has no tool %s", t.Name)
	}
	if pin := s.o.Pins[t.Name]; pin != "" && pin != Digest(tool) {
		return nil, atlassian.Fail("has changed the tool %s: its name, description or schema is not the one of "+
			"the pin, and it was not called", t.Name)
	}
	arguments, err := t.arguments(tool, id)
	if err != nil {
		return nil, err
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: arguments})
	if err != nil {
		s.broken(session)
		return nil, s.failure(err, id)
	}
	return result, nil
}

// Unpinned says what the settings may say of each tool that is called and not pinned, once
// the server was asked.
func (s *Server) Unpinned() (notes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []Tool{s.o.Ticket, s.o.Page, s.o.Comment} {
		if tool := s.tools[t.Name]; tool != nil && s.o.Pins[t.Name] == "" {
			notes = append(notes, fmt.Sprintf("not pinned; pin: {%s: %q}", t.Name, Digest(tool)))
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes)
}

// arguments are what a tool is called with. It must take the one for the key, and
// need none that is not given.
func (t Tool) arguments(tool *mcp.Tool, id string) (map[string]any, error) {
	schema, _ := tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	all := map[string]any{}
	for name, v := range t.With {
		if text, ok := v.(string); ok {
			v = strings.ReplaceAll(text, "{id}", id)
		}
		all[name] = v
	}
	if argument := t.argument(properties); argument != "" {
		all[argument] = id
		if properties[argument] == nil && len(properties) > 0 {
			return nil, atlassian.Fail("has a tool %s that takes no argument %s", t.Name, argument)
		}
	}
	required, _ := schema["required"].([]any)
	for _, r := range required {
		if name, _ := r.(string); name != "" && all[name] == nil {
			return nil, atlassian.Fail("has a tool %s that needs %.60q: give it under arguments", t.Name, name)
		}
	}
	return all, nil
}

// argument is the name of what takes the key: of a preset the one that the tool has.
func (t Tool) argument(properties map[string]any) string {
	names := presetArguments[t.Argument]
	at := slices.IndexFunc(names, func(name string) bool { return properties[name] != nil })
	if at < 0 {
		return t.Argument
	}
	return names[at]
}
