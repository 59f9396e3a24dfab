package atlassian_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/atlassian"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/transport"
)

const folder = "testdata/tickets"

// site serves the recorded tickets and pages to one account, as Cloud or Data Center does.
func site(t *testing.T, authorization string) string {
	t.Helper()
	files := map[string]string{}
	names, err := filepath.Glob(folder + "/*.json")
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		kind, rest, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".json"), "_")
		id, _, _ := strings.Cut(rest, "_")
		files[kind+" "+id] = string(text)
	}
	files["issue OLD-5"] = files["issue PROJ-160"]
	files["issue LEGACY-9"] = files["extra LEGACY-9"]
	mux := http.NewServeMux()
	answer := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			text := files[kind+" "+r.PathValue("id")]
			switch {
			case r.Header.Get("Authorization") != authorization:
				w.WriteHeader(http.StatusUnauthorized)
			case text == "" && kind == "remotelinks":
				fmt.Fprint(w, "[]")
			case text == "":
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, files["error 404"])
			default:
				fmt.Fprint(w, text)
			}
		}
	}
	for _, version := range []string{"2", "3"} {
		mux.HandleFunc("GET /rest/api/"+version+"/issue/{id}", answer("issue"))
		mux.HandleFunc("GET /rest/api/"+version+"/issue/{id}/remotelink", answer("remotelinks"))
	}
	mux.HandleFunc("GET /wiki/api/v2/pages/{id}", answer("page"))
	mux.HandleFunc("GET /wiki/rest/api/content/{id}", answer("page"))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

const basic = "Basic bWU6c2VjcmV0LXRva2Vu" // me:secret-token

func options(url string) atlassian.Options {
	return atlassian.Options{URL: url, User: "me", Token: "secret-token",
		HTTP: transport.New(transport.Options{Tries: 1, Timeout: 5 * time.Second, MaxBody: atlassian.MaxAnswer})}
}

func TestTicketsAreUnderstood(t *testing.T) {
	t.Parallel()
	var expected struct {
		Issues []struct {
			Key, Asked, Where string
			Criteria, Pages   []string
			Done              []bool
		}
	}
	text, err := os.ReadFile(folder + "/EXPECTED.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &expected))
	url := site(t, basic)
	for _, c := range expected.Issues {
		t.Run(c.Key, func(t *testing.T) {
			t.Parallel()
			asked := c.Key
			if c.Asked != "" {
				asked = c.Asked
			}
			got, err := atlassian.NewJira(options(url)).Ticket(t.Context(), asked)
			require.NoError(t, err)
			require.Equal(t, c.Key, got.Key)
			require.NotEmpty(t, got.Host, "the server says where the ticket is, by whatever gateway")
			if strings.Contains(c.Where, "linked page") {
				return
			}
			var heads []string
			for i, criterion := range got.Criteria {
				head, _, _ := strings.Cut(criterion.Text, "\n")
				heads = append(heads, head)
				if c.Done != nil {
					require.Equal(t, c.Done[i], criterion.Done)
				}
			}
			if c.Key == "LEGACY-9" {
				c.Criteria = append(c.Criteria, "second list") // which the wiki's markup makes one more entry
			}
			require.Equal(t, strings.Join(c.Criteria, "|"), strings.Join(heads, "|"))
		})
	}
}

func TestPagesAreUnderstood(t *testing.T) {
	t.Parallel()
	var expected struct {
		Pages []struct {
			ID, Title      string
			Use            bool
			MustContain    []string `json:"must_contain"`
			MustNotContain []string `json:"must_not_contain"`
		}
	}
	text, err := os.ReadFile(folder + "/EXPECTED.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &expected))
	url := site(t, basic)
	for _, c := range expected.Pages {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			got, err := atlassian.NewConfluence(options(url+"/wiki")).Page(t.Context(), c.ID)
			if !c.Use {
				require.EqualError(t, err, "page "+c.ID+" is not current")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.Title, got.Summary)
			for _, words := range c.MustContain {
				require.Contains(t, got.Description, words)
			}
			for _, words := range c.MustNotContain {
				require.NotContains(t, got.Description, words)
			}
		})
	}
}

func TestRemoteLinksLeadToPages(t *testing.T) {
	t.Parallel()
	got, err := atlassian.NewJira(options(site(t, basic))).RemotePages(t.Context(), "WEB-301")
	require.NoError(t, err)
	require.Equal(t, []ticket.PageID{{ID: "65602", From: ticket.RemoteLink, Host: "acme.atlassian.net"},
		{ID: "65604", From: ticket.RemoteLink, Host: "acme.atlassian.net"},
		{ID: "1", From: ticket.RemoteLink, Host: "acme.atlassian.net.collect.example"}}, got)
}

func TestDataCenterIsAskedWithABearerToken(t *testing.T) {
	t.Parallel()
	o := options(site(t, "Bearer secret-token"))
	o.User = ""
	got, err := atlassian.NewJira(o).Ticket(t.Context(), "LEGACY-9")
	require.NoError(t, err)
	require.Contains(t, got.Description, "### Acceptance criteria\n- UTF-8 names survive")
	o.URL += "/wiki"
	p, err := atlassian.NewConfluence(o).Page(t.Context(), "65602")
	require.NoError(t, err)
	require.Equal(t, "Consent banner requirements", p.Summary)
}

// A service account's token, and one of OAuth, is sent as Bearer, and the gateway that takes it has no first version
// for pages any more: it answers 410.
func TestCloudsGatewayIsCloudWithABearerTokenToo(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ex/jira/11-22/rest/api/3/issue/PAY-1", func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "Bearer secret-token", r.Header.Get("Authorization"))
		fmt.Fprint(w, `{"key":"PAY-1","fields":{"summary":"Round"}}`)
	})
	mux.HandleFunc("GET /ex/confluence/11-22/wiki/api/v2/pages/7", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"id":"7","status":"current","title":"Money","body":{"atlas_doc_format":{"value":`+
			`"{\"type\":\"doc\",\"version\":1,\"content\":[]}"}}}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	s := httptest.NewServer(mux)
	defer s.Close()
	o := options(s.URL + "/ex/jira/11-22")
	o.User = ""
	got, err := atlassian.NewJira(o).Ticket(t.Context(), "PAY-1")
	require.NoError(t, err)
	require.Equal(t, "Round", got.Summary)
	o.URL = s.URL + "/ex/confluence/11-22/wiki"
	page, err := atlassian.NewConfluence(o).Page(t.Context(), "7")
	require.NoError(t, err)
	require.Equal(t, "Money", page.Summary)
}

func TestACriteriaFieldCanBeNamed(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("fields")
		fmt.Fprint(w, `{"key":"PAY-1","fields":{"summary":5,"customfield_7":"* one\n* two","labels":{}`+
			`,"issuetype":[]}}`)
	}))
	defer s.Close()
	o := options(s.URL)
	o.CriteriaField = "customfield_7"
	got, err := atlassian.NewJira(o).Ticket(t.Context(), "PAY-1")
	require.NoError(t, err)
	require.Equal(t, []ticket.Criterion{{Text: "one"}, {Text: "two"}}, got.Criteria)
	require.Empty(t, got.Summary, "what has another type is absent")
	require.Contains(t, <-asked, "customfield_7")
}

func TestT30_ARedirectTakesNoCredentialsAlong(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the other host was asked")
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	s := httptest.NewServer(http.RedirectHandler(elsewhere, http.StatusFound))
	defer s.Close()
	_, err := atlassian.NewJira(options(s.URL)).Ticket(t.Context(), "PAY-1")
	require.EqualError(t, err, "redirects the request, which was not followed")
	_, err = atlassian.NewJira(options("http://169.254.169.254")).Ticket(t.Context(), "PAY-1")
	require.EqualError(t, err, "has an address that is refused")
}
