package wire_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/ticketcontext"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wire"
)

// With this variable the test's own binary is an MCP server on its standard streams.
const beServer = "WIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	switch reply := os.Getenv(beServer); reply {
	case "":
		// A dozen of these tests wait two seconds for a server that never answers.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	case "dies":
		os.Exit(1)
	case "never answers": // nor ends when its standard input does: a signal ends it
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGUSR1)
		<-never
	default:
		if mcpServer("d", reply).Run(context.Background(), &mcp.StdioTransport{}) != nil {
			os.Exit(1)
		}
	}
}

func mcpServer(description, reply string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
	type in struct {
		ID string `json:"id"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "get", Description: description},
		func(context.Context, *mcp.CallToolRequest, in) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{IsError: reply == "is an error",
				Content: []mcp.Content{&mcp.TextContent{Text: reply}}}, nil, nil
		})
	return s
}

// fault is what a server does, and the words that tell of it.
type fault struct {
	name, want string
	answer     http.HandlerFunc
}

// words are in every bad answer: nothing of them may leave.
const words = "secret-word"

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"message": %q}`, words)
	}
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}

func never(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client has gone
	<-r.Context().Done()
}

// stalls begins an answer and does not continue with it.
func stalls(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"key": "PAY-1", "x": "%s`, words)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func dies(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close() // half way
	}
}

// common are the faults of any server that speaks HTTP.
func common() []fault {
	return []fault{
		{"401", "refused the credentials (401)", status(401)},
		{"403", "(403)", status(403)},
		{"404", " is not visible to ", status(404)},
		{"429", "limits its requests (429)", status(429, "Retry-After", "60")},
		{"503", "is failing (503)", status(503)},
		{"never answers", late, never},
		{"stalls half way", late, stalls},
		{"dies", "could not be reached", dies},
		{"10 MB", "of more than 2 MB", says(`{"key": "` + strings.Repeat("x", 10<<20) + `"}`)},
	}
}

// inTime waits no time between tries.
func inTime(o ticketcontext.Options) ticketcontext.Options {
	o.Sleep = func(context.Context, time.Duration) error { return nil }
	return o
}

func environ(name string) string {
	return map[string]string{"TOKEN": "secret-token", "JIRA_USER": "me", "PATH": os.Getenv("PATH"), "HOME": "/",
		beServer: os.Getenv("ignored")}[name]
}

// late is what is said of a server that does not answer.
const late = "did not answer in time"

// fetch reads PAY-1 and page 7 as the settings of sources say, where a fault that is told in these words is
// expected: one that never answers is waited for a second, any other longer than a machine is slow.
func fetch(t *testing.T, sources, want string) (ticket.Context, time.Duration) {
	t.Helper()
	return fetchBy(t, nil, sources, want)
}

func fetchBy(t *testing.T, api *github.Client, sources, want string) (ticket.Context, time.Duration) {
	t.Helper()
	call := "2m"
	if want == late {
		call = "1s"
	}
	c, err := config.Parse("f.yml", []byte("context:\n  projects: [PAY]\n  limit: 2m\n  call-limit: "+call+
		"\n  sources:\n"+sources))
	require.NoError(t, err)
	o, err := wire.New(environ, time.Now, nil).Context(c.Context, settings.Settings{}, api)
	require.NoError(t, err)
	asked := ticketcontext.Asked{MayWrite: true, Pull: pull.Pull{Title: "PAY-1",
		Ref:  pull.Ref{Owner: "acme", Repo: "shop", Number: 1, Host: "github.com"},
		Body: "https://wiki.acme.example/pages/7"}}
	if api != nil {
		asked.Body = "Closes #7"
	}
	began := time.Now()
	got := ticketcontext.Fetch(t.Context(), asked, inTime(o))
	return got, time.Since(began)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestFaultsOfJiraAndConfluence(t *testing.T) {
	t.Parallel()
	jira := append(common(),
		fault{"wrong types", "another form than expected", says(`{"key": 5, "fields": "` + words + `"}`)},
		fault{"a list", "another form than expected", says(`["` + words + `"]`)},
		fault{"no ticket", "gave an answer that is not a ticket", says(`{"x": "` + words + `"}`)},
		fault{"another ticket", "answered with another ticket than PAY-1", says(`{"key":"PAY-2","fields":{"summary":"` +
			words + `"}}`)},
		fault{"a ticket of another project", "answered with another ticket", says(`{"key":"SEC-9","fields":{}}`)},
		fault{"a login's page", "is not JSON", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<html>"+words)
		}},
	)
	confluence := append(common(),
		fault{"wrong types", "another form than expected", says(`{"id": "7", "title": {"x": "` + words + `"}}`)},
		fault{"another page", "answered with another page than 7", says(`{"id": "8", "title": "` + words + `"}`)},
		fault{"no body", "text cannot be read", says(`{"id": "7", "title": "` + words + `", "body": {}}`)},
		fault{"a broken body", "text cannot be read",
			says(`{"id": "7", "body": {"atlas_doc_format": {"value": "{` + words + `"}}}`)},
		fault{"trashed", "page 7 is not current", says(`{"id": "7", "status": "trashed", "title": "` + words + `"}`)},
	)
	for kind, faults := range map[string][]fault{"jira": jira, "confluence": confluence} {
		for _, f := range faults {
			t.Run(kind+" "+f.name, func(t *testing.T) {
				t.Parallel()
				site := ""
				if kind == "confluence" {
					site = "\n      site: https://wiki.acme.example"
				}
				c, took := fetch(t, "    - "+kind+": "+serve(t, f.answer)+"\n      token-env: TOKEN"+site+"\n", f.want)
				holds(t, c, took, f.want)
			})
		}
	}
}

// holds checks what every fault has in common: it is told, in time, and nothing leaks.
func holds(t *testing.T, c ticket.Context, took time.Duration, want string) {
	t.Helper()
	told, err := json.Marshal(c)
	require.NoError(t, err)
	require.True(t, c.Empty())
	require.NotEmpty(t, c.Missing)
	require.Contains(t, strings.Join(c.Missing, "\n"), want)
	require.NotContains(t, string(told), words)
	require.NotContains(t, string(told), "secret-token")
	require.Less(t, took, time.Minute, "the limit of a call holds, not that of all")
	require.False(t, c.Sources[0].OK)
}

func TestFaultsOfGitHubIssues(t *testing.T) {
	t.Parallel()
	const repository = "https://api.github.com/repos/acme/"
	issue := func(url string) http.HandlerFunc {
		return says(`{"number": 7, "url": "` + repository + url + `", "title": "` + words + `", "body": "x"}`)
	}
	faults := append(common()[:len(common())-1], // of 10 MB 10,000 characters are read, which is not a fault
		fault{"wrong types", "another form than expected", says(`{"number": "` + words + `"}`)},
		fault{"another issue", "acme/shop#7 is not visible to the GitHub token", issue("shop/issues/8")},
		fault{"moved away", "acme/shop#7 is not visible to the GitHub token", issue("secret/issues/7")},
		fault{"no issue", "acme/shop#7 is not visible to the GitHub token", says(`{"x": "` + words + `"}`)},
		fault{"a pull request", "acme/shop#7 is a pull request", says(`{"number": 7, "url": "` + repository +
			`shop/issues/7", "title": "` + words + `", "pull_request": {}}`)},
		fault{"nothing in it", "gave an answer that is not an issue", says(`{"number": 7, "url": "` + repository +
			`shop/issues/7"}`)},
		fault{"a proxy's page", "GitHub could not be reached", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<html>"+words)
		}},
	)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c, took := fetchBy(t, hub(t, f.answer), "    - issues: github\n", f.want)
			holds(t, c, took, f.want)
		})
	}
	t.Run("10 MB", func(t *testing.T) {
		t.Parallel()
		c, _ := fetchBy(t, hub(t, says(`{"number": 7, "url": "`+repository+`shop/issues/7", "title": "t", "body": "`+
			strings.Repeat("x", 10<<20)+`"}`)), "    - issues: github\n", "")
		require.Len(t, c.Tickets[0].Description, 10_000)
		require.Equal(t, "cut at 10000 of 262144 characters", c.Sources[0].Note)
	})
}

// hub is a client of a GitHub that answers every request so.
func hub(t *testing.T, answer http.HandlerFunc) *github.Client {
	t.Helper()
	c, err := github.New(github.Options{APIURL: serve(t, answer), Token: "secret-token",
		HTTP: transport.New(transport.Options{Tries: 3, LimitTries: 1,
			Sleep: func(context.Context, time.Duration) error { return nil }})})
	require.NoError(t, err)
	return c
}

func TestFaultsOfMCPServers(t *testing.T) {
	t.Parallel()
	const tool = "        ticket: {tool: get, argument: id, key: id, criteria: criteria}\n"
	for _, f := range common() {
		t.Run("http "+f.name, func(t *testing.T) {
			t.Parallel()
			source := "    - mcp:\n        url: " + serve(t, f.answer) + "\n        token-env: TOKEN\n"
			c, took := fetch(t, source+tool, f.want)
			holds(t, c, took, strings.Replace(f.want, " is not visible to ", "has no MCP server at its address (404)", 1))
		})
	}
	for reply, want := range map[string]string{
		"is an error":                                    "reports an error for PAY-1",
		"Error: " + words:                                "reports an error for PAY-1",
		`{"error": "` + words + `"}`:                     "reports an error for PAY-1",
		`{"id": "PAY-2", "x": "secret-word"}`:            "nothing stands where the settings say",
		`{"id": "PAY-2", "criteria": ["` + words + `"]}`: "answered with another ticket than PAY-1",
		`{"id": 5}`:                                      "nothing stands where the settings say",
		"dies":                                           "ended, or did not speak the protocol",
		"never answers":                                  late,
		"just some words":                                "does not name PAY-1",
	} {
		t.Run("program "+reply, func(t *testing.T) {
			t.Parallel()
			c, took := fetch(t, "    - mcp:\n        command: [env, '"+beServer+"="+reply+"', "+os.Args[0]+
				", '-test.run=^$']\n"+tool, want)
			holds(t, c, took, want)
		})
	}
	t.Run("T4 changed description", func(t *testing.T) {
		t.Parallel()
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return mcpServer("new", words) }, nil)
		c, took := fetch(t, "    - mcp:\n        url: "+serve(t, handler.ServeHTTP)+"\n"+tool+
			"        pin: {get: 'sha256:"+
			strings.Repeat("0", 64)+"'}\n", "")
		holds(t, c, took, "has changed the tool get")
	})
	t.Run("program absent", func(t *testing.T) {
		t.Parallel()
		c, took := fetch(t, "    - mcp:\n        command: [/nonexistent/server]\n"+tool, "")
		holds(t, c, took, "could not be started")
	})
}

func TestWhatIsNotConfiguredIsNamed(t *testing.T) {
	t.Parallel()
	for sources, want := range map[string]string{
		"    - jira: https://jira.acme.example\n      token-env: " +
			"ABSENT\n": "PAY-1: ABSENT is not set",
		"    - jira: https://jira.acme.example\n      token-env: TOKEN\n      user-env: " +
			"ABSENT\n": "PAY-1: ABSENT is not set",
		"    - mcp: {command: [x], env: [ABSENT], ticket: {tool: a, " +
			"argument: b}}\n": "PAY-1: ABSENT is not set",
		"    - mcp: {preset: sooperset, url: 'https://mcp.acme.example', token-env: " +
			"ABSENT}\n": "PAY-1: ABSENT is not set",
		"    - confluence: https://wiki.acme.example\n      token-env: ABSENT\n": "Without page: 7: ABSENT is not set",
	} {
		c, took := fetch(t, sources, want)
		holds(t, c, took, want)
	}
}

func TestT30_AddressesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://jira.acme.example", "https://169.254.169.254",
		"http://metadata.google.internal"} {
		for _, kind := range []string{"jira: %s\n      token-env: T", "mcp: {preset: rovo, url: '%s'}"} {
			c, err := config.Parse("f.yml", []byte("context:\n  sources:\n    - "+fmt.Sprintf(kind, address)+"\n"))
			require.NoError(t, err)
			_, err = wire.New(environ, time.Now, nil).Context(c.Context, settings.Settings{}, nil)
			require.ErrorContains(t, err, "context.sources: ", address)
		}
	}
}

func TestThePinIsShown(t *testing.T) {
	t.Parallel()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return mcpServer("d", `{"id": "PAY-1", "criteria": ["one"]}`)
	}, nil)
	c, _ := fetch(t, "    - mcp:\n        url: "+serve(t, handler.ServeHTTP)+
		"\n        ticket: {tool: get, argument: id, key: id, criteria: criteria}\n", "")
	require.Equal(t, []ticket.Criterion{{N: 1, Text: "one"}}, c.Criteria())
	require.Regexp(t, `^not pinned; pin: \{get: "sha256:[0-9a-f]{64}"\}$`, c.Sources[0].Note)
}
