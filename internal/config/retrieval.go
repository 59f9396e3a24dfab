package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/org/pr-review-action/internal/pattern"
)

// Endpoint is a server beside that of the models: whom retrieval asks.
type Endpoint struct {
	BaseURL string `json:"base_url,omitzero"` // empty for the vendor's own
	Model   string `json:"model,omitzero"`    // empty: nobody is asked
	Style   string `json:"style,omitzero"`    // the shape of its requests; empty for the usual one
	KeyEnv  string `json:"key_env,omitzero"`  // the variable that holds its key; empty: none is sent
}

// Embeddings says who turns texts into vectors.
type Embeddings struct {
	Endpoint
	Dimensions int `json:"dimensions,omitzero"` // of the vectors; 0 for the model's own
}

// Index says where the index of the base commit is kept, and what is in it.
type Index struct {
	// empty or "file": a folder; else the address of a Postgres database
	Store       string   `json:"store,omitzero"`
	PasswordEnv string   `json:"password_env,omitzero"` // the variable that holds the database's password
	Ignore      []string `json:"ignore,omitempty"`      // globs of paths that are not indexed
	MaxFiles    int      `json:"max_files,omitzero"`
}

// Ignores reports whether a path is not indexed.
func (i Index) Ignores(path string) bool { return pattern.Matches(i.Ignore, path) }

// Postgres is the address of the database that keeps the index; empty for a file.
func (i Index) Postgres() string {
	if i.Store == storeFile {
		return ""
	}
	return i.Store
}

const storeFile = "file"

func endpointKeys(e *Endpoint, styles ...string) keys {
	return keys{
		ruled("base-url", &e.BaseURL, wrongLocation("https", "http")),
		modelName("model", &e.Model), choice("style", &e.Style, styles[0], styles...),
		ruled("key-env", &e.KeyEnv, wrongVariable),
	}
}

func embeddingKeys(e *Embeddings) keys {
	return append(endpointKeys(&e.Endpoint, "openai", "voyage"),
		whole("dimensions", 1, 4_096, &e.Dimensions, 0))
}

func rerankKeys(e *Endpoint) keys { return endpointKeys(e, "cohere", "voyage") }

func indexKeys(i *Index) keys {
	store := ruled("store", &i.Store, wrongLocation("postgres", "postgresql"))
	elsewhere := store.read
	store.read = func(r *reader, n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok && !strings.Contains(s.Value, ":") {
			r.good(n, r.among([]string{storeFile}), &i.Store)
			return
		}
		elsewhere(r, n)
	}
	store.show = func() any { return cmp.Or(i.Store, storeFile) }
	return keys{store, ruled("password-env", &i.PasswordEnv, wrongVariable),
		listed("ignore", &i.Ignore, wrongGlob), whole("max-files", 1, 1_000_000, &i.MaxFiles, 0)}
}

// endpoint is a server, of which the model's name is needed, here or in the defaults.
func endpoint(name string, model *string, known keys) key {
	return key{name: name, under: known, read: func(r *reader, n ast.Node) {
		seen := r.mapping(n, known)
		if _, nothing := n.(*ast.NullNode); !nothing && *model == "" && !slices.Contains(seen, "model") {
			r.fail(firstKey(n), "%s needs model, the name by which the endpoint serves it", name)
		}
	}}
}

// firstKey is where a mapping begins, for a person; its own place is that of a colon.
func firstKey(n ast.Node) ast.Node {
	if all := pairs(n); len(all) > 0 {
		return all[0].Key
	}
	return n
}

// wrongLocation is the rule for where a server is. It does not repeat a text that may hold
// a password.
func wrongLocation(schemes ...string) func(string) string {
	return func(s string) string {
		u, err := url.Parse(s)
		switch {
		case err != nil || len(s) > 500 || strings.ContainsFunc(s, unprinted):
			return mistake("this is not an address")
		case !slices.Contains(schemes, u.Scheme):
			return mistake("this is not an address that begins with %s://", strings.Join(schemes, ":// or "))
		case hasPassword(u):
			return mistake("the address contains a password, which does not belong here; name a variable")
		case !strings.HasPrefix(u.Scheme, "postgres") && (u.Host == "" || u.User != nil || u.Fragment != ""):
			return mistake("an address needs a host, and no user and no fragment")
		}
		return ""
	}
}

func hasPassword(u *url.URL) bool {
	_, given := u.User.Password()
	q, err := url.ParseQuery(u.RawQuery)
	return given || err != nil || q.Has("password") || q.Has("sslpassword") || q.Has("api_key") || q.Has("api-key") ||
		q.Has("key")
}

var variableName = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// ours are the beginnings of variables that are GitHub's, the runner's or this
// program's own: no endpoint is given what they hold.
var ours = []string{"GITHUB_", "GH_", "ACTIONS_", "RUNNER_", "INPUT_", "PR_REVIEW_", "AWS_"}

// wrongVariable is the rule for the name of a variable that holds a credential.
func wrongVariable(s string) string {
	begins := func(front string) bool { return strings.HasPrefix(strings.ToUpper(s), front) }
	switch {
	case !variableName().MatchString(s):
		return mistake("%.60q is not the name of an environment variable; the credential itself stands in none of "+
			"these settings", s)
	case slices.ContainsFunc(ours, begins):
		return mistake("%s is not a variable for a credential of this endpoint; name one of its own", s)
	}
	return ""
}

// address is that of a server, without credentials in it. Whether plain http is allowed is
// for who connects.
func address(name string, into *string) key {
	k := ruled(name, into, wrongAddress)
	inner := k.read
	k.read = func(r *reader, n ast.Node) {
		inner(r, n)
		*into = strings.TrimSuffix(*into, "/")
	}
	return k
}

func wrongAddress(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return mistake("expected an address that begins with https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return mistake("an address here has no user, no query and no fragment; credentials come from the environment")
	}
	return ""
}
