// Package mcpclient reads tickets and pages from a server of the Model Context Protocol, and comments on tickets, by
// the tools that the settings name.
//
// The settings and the requested key determine which tool is called, and with what; no model chooses. The client
// offers the server nothing: no roots, no sampling, no elicitation. It does not call a pinned tool that has changed.
// Start at Server and New.
package mcpclient

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/atlassian/markup"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

// Options describes the server.
type Options struct {
	config.MCP          // see Preset
	Name       string   // the name in notes
	Environ    []string // NAME=value; the whole environment of a program
	User       string   // with a user the token is sent as Basic, otherwise as Bearer; without a token nothing is sent
	Token      string
	HTTP       *http.Client // a streaming client from transport.New
}

// Server talks to one server. It connects on the first request, and again after the connection broke. It is safe for
// concurrent use.
type Server struct {
	o       Options
	mu      sync.Mutex
	current *mcp.ClientSession
	tools   map[string]*mcp.Tool
}

// New makes a Server. It starts nothing before the first request.
func New(o Options) *Server { return &Server{o: o} }

const (
	protocol = "2025-11-25" // what is asked for first: the last version that begins with initialize
	maxTools = 1000         // that a server may list
)

// session returns the open connection and the server's tools.
func (s *Server) session(ctx context.Context) (*mcp.ClientSession, map[string]*mcp.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		return s.current, s.tools, nil
	}
	open, err := s.connect(ctx, protocol)
	if isRefused(err) { // by a server that knows later versions alone, perhaps
		if later, again := s.connect(ctx, ""); again == nil {
			open, err = later, nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	tools := map[string]*mcp.Tool{}
	for tool, err := range open.Tools(ctx, nil) {
		if err == nil && len(tools) == maxTools {
			err = atlassian.Fail("lists more than %d tools", maxTools)
		}
		if err != nil {
			_ = open.Close() // the earlier error is reported
			return nil, nil, err
		}
		tools[tool.Name] = tool
	}
	s.current, s.tools = open, tools
	return open, tools, nil
}

// connect opens a connection of a version; "" is the newest that the server has.
func (s *Server) connect(ctx context.Context, version string) (*mcp.ClientSession, error) {
	t, err := s.transport(ctx)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "pr-review-action", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	return client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
}

// isRefused reports whether a server understood a request and will not have it.
func isRefused(err error) bool {
	var said *jsonrpc.Error
	var status *transport.StatusError
	return errors.As(err, &said) || errors.As(err, &status) && status.Code == http.StatusBadRequest
}

// Close ends the connection, and the program if there is one.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(s.current)
}

// drop ends a connection, so that the next request makes a new one. Errors of closing it do not matter to us.
func (s *Server) drop(was *mcp.ClientSession) {
	if was != nil && s.current == was {
		_ = s.current.Close()
		s.current = nil
	}
}

func (s *Server) transport(ctx context.Context) (mcp.Transport, error) {
	if len(s.o.Command) > 0 {
		return program(ctx, s.o.Command, s.o.Environ)
	}
	a := authorized{next: s.o.HTTP.Transport}
	switch {
	case s.o.User != "":
		a.header = "Basic " + base64.StdEncoding.EncodeToString([]byte(s.o.User+":"+s.o.Token))
	case s.o.Token != "":
		a.header = "Bearer " + s.o.Token
	}
	hc := *s.o.HTTP
	hc.Transport = a
	// The client bounds the whole answer. A single event of that size ends earlier, since the SDK would retry what
	// the client ended.
	return &mcp.StreamableClientTransport{Endpoint: s.o.URL, HTTPClient: &hc, MaxRetries: -1,
		DisableStandaloneSSE: true, MaxEventSize: atlassian.MaxAnswer - 1<<16}, nil
}

// authorized adds the token, which the client below keeps on its host, and turns a failed answer into an error, so
// that its status is not lost.
type authorized struct {
	next   http.RoundTripper
	header string
}

func (a authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := req.Clone(req.Context())
	if a.header != "" {
		sent.Header.Set("Authorization", a.header)
	}
	resp, err := a.next.RoundTrip(sent)
	if err == nil && req.Method == http.MethodPost && resp.StatusCode >= http.StatusBadRequest {
		return nil, transport.Status(resp)
	}
	return resp, err
}

// Ticket reads a ticket, which may come back under another key if it was moved. Errors are *atlassian.Failure.
func (s *Server) Ticket(ctx context.Context, key string) (ticket.Ticket, error) {
	t, a, err := s.read(ctx, s.o.Ticket, key)
	if err != nil {
		return t, err
	}
	if t.Criteria = a.criteria(s.o.Ticket.Criteria); len(t.Criteria) == 0 {
		t.Criteria = ticket.CriteriaIn(t.Description)
	}
	if t.Description == "" && t.Summary == "" && len(t.Criteria) == 0 {
		return t, atlassian.Fail("gave an answer for %s in which nothing stands where the settings say", key)
	}
	t.PageIDs = ticket.PageIDs(t.Description, ticket.InTicket)
	return t, nil
}

// Page reads a page. Errors are *atlassian.Failure.
func (s *Server) Page(ctx context.Context, id string) (ticket.Ticket, error) {
	t, _, err := s.read(ctx, s.o.Page, id)
	switch {
	case err != nil:
		return t, err
	case t.Key != id:
		return t, atlassian.Fail("answered with another page than %s", id)
	case t.Description == "":
		return t, atlassian.Fail("gave an answer for %s in which no text stands where the settings say", id)
	}
	return t, nil
}

// read calls a tool for a ticket or page, and checks that the answer names it.
func (s *Server) read(ctx context.Context, tool config.Tool, id string) (t ticket.Ticket, a answer, err error) {
	if a, err = s.call(ctx, tool, id, ""); err != nil {
		return t, a, err
	}
	if t.Key = a.keyFor(tool.Key, id); t.Key == "" {
		return t, a, atlassian.Fail("gave an answer that does not name %s", id)
	}
	t.Summary = markup.OneLine(a.text(tool.Summary))
	t.Description = a.text(tool.Description)
	if a.fields == nil {
		t.Description = a.whole
	}
	return t, a, nil
}

// Mentions reports whether the ticket tool's answer contains a text, such as an address in one of the comments;
// always false for a server whose answers have no comments. Errors are *atlassian.Failure.
func (s *Server) Mentions(ctx context.Context, key, text string) (bool, error) {
	if s.o.Ticket.Tool == "" {
		return false, nil
	}
	t := s.o.Ticket
	if _, limited := t.With[commentLimit]; limited {
		t.With = maps.Clone(t.With)
		t.With[commentLimit] = 50
	}
	_, a, err := s.read(ctx, t, key)
	return strings.Contains(a.whole, text), err
}

// Comment posts a comment under a ticket: text and an address. It makes one call. Errors are *atlassian.Failure.
func (s *Server) Comment(ctx context.Context, key, text, address string) error {
	_, err := s.call(ctx, s.o.Comment, key, text+" "+address)
	return err
}

// call calls a tool with an id, and text if it takes any, and parses its answer.
func (s *Server) call(ctx context.Context, t config.Tool, id, text string) (answer, error) {
	session, tools, err := s.session(ctx)
	if err != nil {
		return answer{}, s.failure(err, id)
	}
	tool := tools[t.Tool]
	if tool == nil {
		return answer{}, atlassian.Fail("has no tool %s", t.Tool)
	}
	if pin := s.o.Pin[t.Tool]; pin != "" && pin != Digest(tool) {
		return answer{}, atlassian.Fail("has changed the tool %s: its name, description or schema is not the one of "+
			"the pin, and it was not called", t.Tool)
	}
	given, err := arguments(t, tool, s.o.With, id, text)
	if err != nil {
		return answer{}, err
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.Tool, Arguments: given})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(session)
		f := s.failure(err, id)
		if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Code == http.StatusNotFound {
			f.Temporary = true // the server has forgotten the session: the next request opens another
		}
		return answer{}, f
	}
	return parseAnswer(result, id)
}

// failure explains an error of the connection or the protocol.
func (s *Server) failure(err error, id string) *atlassian.Failure {
	var protocol *jsonrpc.Error
	program := len(s.o.Command) > 0
	has := func(words string) bool { return strings.Contains(err.Error(), words) }
	switch {
	case errors.As(err, new(*atlassian.Failure)), errors.Is(err, context.DeadlineExceeded):
	case program && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		has("executable file not found")):
		return &atlassian.Failure{Note: "could not be started", Err: err}
	case errors.As(err, &protocol) && protocol.Code != rejectedByTransport:
		return &atlassian.Failure{Note: fmt.Sprintf("refused the request for %s (%d)", id, protocol.Code), Err: err}
	case program:
		return &atlassian.Failure{Note: "ended, or did not speak the protocol", Temporary: true, Err: err}
	case has(transport.ErrTooLarge.Error()), has("SSE event exceeded"):
		err = transport.ErrTooLarge
	case has("unsupported content type"):
		return &atlassian.Failure{Note: "gave an answer that is not of the protocol, such as the page of a login",
			Err: err}
	}
	if status, ok := errors.AsType[*transport.StatusError](err); ok {
		switch status.Code { // of the endpoint: it says nothing about the ticket
		case http.StatusForbidden:
			return &atlassian.Failure{Note: "does not let us in (403)", Err: err}
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
			return &atlassian.Failure{Note: fmt.Sprintf("has no MCP server at its address (%d)", status.Code), Err: err}
		}
	}
	return atlassian.Explain(err, id, "the account of "+s.o.Name)
}

// rejectedByTransport is the SDK's code for an error from below the protocol.
const rejectedByTransport = -32005

// Unpinned returns, once the server was contacted, the setting that would pin each tool that is called but not pinned.
func (s *Server) Unpinned() (notes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []config.Tool{s.o.Ticket, s.o.Page, s.o.Comment} {
		if tool := s.tools[t.Tool]; tool != nil && s.o.Pin[t.Tool] == "" {
			notes = append(notes, fmt.Sprintf("not pinned; pin: {%s: %q}", t.Tool, Digest(tool)))
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes)
}

// arguments returns the arguments of a call. The tool must accept the key's, and require none that is missing.
func arguments(t config.Tool, tool *mcp.Tool, always map[string]any, id, said string) (map[string]any, error) {
	schema, _ := tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	all := map[string]any{}
	for _, given := range []map[string]any{always, t.With} {
		for name, v := range given {
			if form, ok := v.(string); ok {
				v = strings.NewReplacer("{id}", id, "{text}", said).Replace(form)
			}
			all[name] = v
		}
	}
	argument := t.Argument
	for _, name := range slices.Backward(presetArguments[t.Argument]) {
		if properties[name] != nil {
			argument = name
		}
	}
	if argument != "" {
		all[argument] = id
		if properties[argument] == nil && len(properties) > 0 {
			return nil, atlassian.Fail("has a tool %s that takes no argument %s", t.Tool, argument)
		}
	}
	required, _ := schema["required"].([]any)
	for _, r := range required {
		if name, _ := r.(string); name != "" && all[name] == nil {
			return nil, atlassian.Fail("has a tool %s that needs %.60q: give it under arguments", t.Tool, name)
		}
	}
	return all, nil
}
